"""Writes docs/ladder.md: the grade of some servers after each kind of damage. `make docs` runs it.

python -m tests.scoring.ladder_page --write docs
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from evidence.kinds import exchanges
from evidence.model import Dossier
from publish.text.numbers import format_number
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import Scorecard
from tests.scoring.degradations import LISTING, PARAMETERS, PROBE, PROJECT, Step
from tests.scoring.rich import well_kept
from tests.scoring.test_ladder import probed, scored, whole

PAGE = "ladder.md"

SERVERS: Mapping[str, Callable[[], Dossier]] = {
    "playwright__mcp": lambda: whole("playwright__mcp"),
    "sdk-http": lambda: probed("sdk-http"),
    "well-kept": well_kept,
}
"""The tool list of a published package and a recorded probe of an SDK server, each with the project of a server that
is kept well, and that server itself."""

GROUPS = {"Tool list": LISTING, "Parameters": PARAMETERS, "Project": PROJECT, "Conversation": PROBE}


def render_ladder() -> str:
    """The page: one row for each step, one column for each server, the value and grade after one and two degrees."""
    names = list(SERVERS)
    before = [_verdict(scored(make())) for make in SERVERS.values()]
    lines = [
        "<!-- Written by `make docs` from tests/scoring/degradations.py. Do not edit. -->",
        "",
        "# The ladder: what damage costs under `adaptive@2`",
        "",
        "Each step damages the evidence of a server once and twice as much; a cell has the value and grade after both.",
        "A dash: the server has nothing that the step could damage. `tests/scoring/test_ladder.py` checks every step",
        "on every captured server. Harm costs the same however much of it there is: a value must not tell what an",
        "undisclosed finding is.",
        "",
        f"| step | {' | '.join(names)} |",
        f"|---{'|---' * len(names)}|",
        f"| **undamaged** | {' | '.join(f'**{one}**' for one in before)} |",
    ]
    for title, steps in GROUPS.items():
        lines.append(f"| **{title}** {'|  ' * len(names)}|")
        lines += [f"| {name} | {' | '.join(_cells(step))} |" for name, step in steps.items()]
    return "\n".join(lines) + "\n"


def _cells(step: Step) -> Iterator[str]:
    for make in SERVERS.values():
        evidence = make()
        if step in PROBE.values() and exchanges.KIND not in evidence.records:
            yield "-"
            continue
        once, twice = (step.damage(evidence, degree) for degree in (1, 2))
        yield "-" if twice == evidence else f"{_verdict(scored(once))}, {_verdict(scored(twice))}"


def _verdict(card: Scorecard) -> str:
    return "no score" if isinstance(card.score, NotMeasured) else f"{format_number(card.score)} {card.grade}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", type=Path, required=True, metavar="DOCS")
    folder: Path = parser.parse_args().write
    (folder / PAGE).write_text(render_ladder(), encoding="utf-8")


if __name__ == "__main__":
    main()
