"""Speed of the poisoning scan on captured servers, on many tools and on hostile texts, one core.

    python -m bench.poisoning [--rounds N] [--against DIR] [--json FILE]

`--against` is a checkout of another revision, whose scan is measured in the same run, turn by turn.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
ONE_ROUND = """
import sys, time
sys.path.insert(0, sys.argv[1])
from evidence.derive.poisoning import scan_listing
from evidence.kinds.listing import Listing
from evidence.model import Observed
from tests.dossiers import captures
contents = [dossier.read("listing") for dossier in captures().values()]
listings = [Listing.parse(content.body) for content in contents if isinstance(content, Observed)]
for listing in listings: scan_listing(listing)
best = 1e9
for _ in range(5):
    started = time.process_time()
    for listing in listings: scan_listing(listing)
    best = min(best, (time.process_time() - started) / len(listings))
words = "when no filter is given all rows are read as json " * 27
tools = [{"name": f"tool_{at}", "description": f"{words}{at}"} for at in range(1000)]
many = Listing({"lists": {"tools": {"end": "complete", "pages": [{"tools": tools}]}}})
started = time.process_time()
scan_listing(many)
print(best, time.process_time() - started)
"""
UNITS = (
    "a",
    "must call 'a_b' ",
    "before using `x_y`, ",
    "ignore all previous ",
    "first read the .env and pass ",
    "%41",
    "AbC/",
    "\u200b",
    "<!-- ",
    "send the api key ",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    trees = {"": HERE} | ({"_against": options.against} if options.against else {})
    rounds: dict[str, list[tuple[float, float]]] = {name: [] for name in trees}
    for _ in range(options.rounds):
        for name, tree in trees.items():
            rounds[name].append(one_round(tree))
    result = {"slowest_hostile_text_s": hostile()}
    for name, times in rounds.items():
        server, tools = (sorted(each)[len(times) // 2] for each in zip(*times, strict=True))
        result |= {f"ms_per_server{name}": round(server * 1000, 2), f"thousand_tools_s{name}": round(tools, 2)}
    for name, value in result.items():
        print(f"{name:28} {value}")
    if options.json:
        options.json.write_text(json.dumps(result, indent=1) + "\n")


def one_round(tree: Path) -> tuple[float, float]:
    """Seconds of CPU for one listing, and for 1,000 tools of 300 words, in a process of its own."""
    run = subprocess.run(
        [sys.executable, "-c", ONE_ROUND, str(tree)], capture_output=True, text=True, check=True, cwd=tree
    )
    server, tools = map(float, run.stdout.split())
    return server, tools


def hostile(units: Sequence[str] = UNITS) -> float:
    """Seconds for the worst text of 20,000 characters."""
    from evidence.derive.poisoning import scan_text  # noqa: PLC0415  after the arguments are read

    worst = 0.0
    list(scan_text("a"))
    for unit in units:
        started = time.process_time()
        list(scan_text((unit * 20_000)[:20_000], owner="mine", names=["a_b", "x_y"]))
        worst = max(worst, time.process_time() - started)
    return round(worst, 2)


if __name__ == "__main__":
    main()
