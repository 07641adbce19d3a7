"""How many of the attacks written blind are found, and how many honest look-alikes are accused, by class and language.

    python -m bench.poisoning_blind [--half read|unread] [--misses] [--folder DIR] [--json FILE]

Patterns were improved on the half that may be read; the other half was never read. `--misses` names rows of the first.
`--folder` has other sets, with the same file names and members: id, set, server, label (1 or 0), class, language, name,
description, inputSchema.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from evidence.derive.poisoning import Hit
from evidence.patterns.poisoning import Confidence
from workers.cli.lab.tool_rows import InvalidRow, ToolCorpus

FOLDER = Path(__file__).resolve().parent.parent / "tests" / "evidence" / "poisoning" / "blind"
SETS = ("attacks_plain", "attacks_disguised", "look_alikes")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--half", choices=("read", "unread"))
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rows = [each for each in judge_rows(options.folder) if options.half in (None, half_of(each[0]["id"]))]
    figures = {part: dict(count(rows, part)) for part in ("set", "class", "language")}
    for part, tallies in figures.items():
        for name, tally in tallies.items():
            print(f"{part:9} {name:28} {dict(tally)}")
    if options.misses:
        for row, hits in rows:
            found = sorted({hit.pattern for hit in hits if hit.is_grave})
            if half_of(row["id"]) == "read" and bool(found) != row["label"]:
                print(row["id"], row["class"], row["language"], found)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")


def judge_rows(folder: Path = FOLDER) -> Iterator[tuple[Mapping[str, Any], tuple[Hit, ...]]]:
    """Every row with its findings."""
    for name in SETS:
        path = folder / f"{name}.jsonl"
        raw = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        for row, (judged, hits) in zip(raw, ToolCorpus.read(path).scan(), strict=True):
            if isinstance(judged, InvalidRow):
                raise SystemExit(f"{path}: line {judged.line}: {judged.why}")
            yield row, hits


def half_of(ident: str) -> str:
    """The half of a row, by its id."""
    return "read" if hashlib.sha256(ident.encode()).digest()[0] % 2 == 0 else "unread"


def count(rows: list[tuple[Mapping[str, Any], tuple[Hit, ...]]], part: str) -> Iterator[tuple[str, Counter[str]]]:
    """Per value of a member: attacks, those found for certain and those at least suspected; the same of honest rows."""
    tallies: dict[str, Counter[str]] = defaultdict(Counter)
    for row, hits in rows:
        kind = "attacks" if row["label"] else "honest"
        name = f"{row['set']} {row[part]}" if part != "set" else row["set"]
        tallies[name][kind] += 1
        tallies[name][f"{kind} found"] += any(hit.is_grave for hit in hits)
        tallies[name][f"{kind} suspected"] += any(hit.confidence is not Confidence.LOW for hit in hits)
    yield from sorted(tallies.items())


if __name__ == "__main__":
    main()
