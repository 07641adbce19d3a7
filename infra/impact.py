"""Score every recorded dossier with another revision and with the working tree, and print changed scores and lines.

    make impact BASE=HEAD~3        python infra/impact.py --base HEAD~3 [--only adaptive@1] [--json]

Run it before you commit a change of a rule or rubric, so that its `changes/*.score` fragment can describe the effect.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
DOSSIERS = ROOT / "tests" / "dossiers"
SHIFTS = 6

# By dossier and rubric: {"score": STRING, "grade": STRING, "lines": [[CITES, AT, POINTS], ...]}
Scores = dict[str, dict[str, dict[str, Any]]]


@dataclass(frozen=True)
class Moved:
    """The changed score of one dossier and rubric, with added (+) and removed (-) charges."""

    dossier: str
    rubric: str
    before: str
    after: str
    shifts: tuple[str, ...]

    @property
    def text(self) -> str:
        """One line for the change, and one line per charge."""
        more = len(self.shifts) - SHIFTS
        shown = [f"    {shift}" for shift in self.shifts[:SHIFTS]] + ([f"    and {more} more"] if more > 0 else [])
        return "\n".join([f"{self.dossier:40} {self.rubric:14} {self.before} -> {self.after}", *shown])


def main() -> int:
    """Print the changed scores; the exit status is 0 with and without changes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", default="HEAD", help="revision to compare the working tree with (default: HEAD)")
    parser.add_argument("--only", action="append", metavar="RUBRIC", help="only this rubric, as lint@1; repeatable")
    parser.add_argument("--json", action="store_true", help="one JSON object per move")
    parser.add_argument("--score", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.score:
        json.dump(score_all(), sys.stdout)
        return 0
    before, after = scores_at(options.base), scores_of(ROOT)
    moved = [move for move in find_moves(before, after) if not options.only or move.rubric in options.only]
    for move in moved:
        print(json.dumps(vars(move)) if options.json else move.text)
    sys.stderr.write("".join(f"{line}\n" for line in list_differences(before, after)))
    sys.stderr.write(f"{summarize_moves(moved, after)} since {options.base}\n")
    return 0


def summarize_moves(moved: list[Moved], after: Scores) -> str:
    """How many scores changed, in total and per rubric."""
    each = Counter(move.rubric for move in moved)
    named = ", ".join(f"{rubric}: {count}" for rubric, count in sorted(each.items()))
    return f"{len(moved)} of {sum(map(len, after.values()))} scores of {len(after)} dossiers moved" + (
        f" ({named})" if named else ""
    )


def scores_at(revision: str) -> Scores:
    """Scores of all dossiers with a revision, which is unpacked to a temporary folder."""
    packed = subprocess.run(["git", "archive", revision], cwd=ROOT, capture_output=True, check=False)
    if packed.returncode:
        raise SystemExit(f"expected a revision of this repository as BASE: {packed.stderr.decode().strip()}")
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=BytesIO(packed.stdout)) as tar:
            tar.extractall(folder, filter="data")
        return scores_of(Path(folder))


def scores_of(code: Path) -> Scores:
    """Scores of all dossiers with the code in a folder, computed in a separate process."""
    environment = {**os.environ, "PYTHONPATH": str(code)}
    command = [sys.executable, str(Path(__file__).resolve()), "--score"]
    output = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, cwd=code).stdout
    scores: Scores = json.loads(output)
    return scores


def score_all() -> Scores:
    """Receipts of every dossier with every rubric of the importable code, which may be an old revision."""
    from scoring.engine import assess, catalogue  # noqa: PLC0415  PYTHONPATH selects the revision
    from workers.cli.measure.scan_file import decode_dossier  # noqa: PLC0415

    scores: Scores = {}
    for name, data in read_dossiers():
        assessment = assess.assess_dossier(decode_dossier(data, datetime(2026, 1, 1, tzinfo=UTC)))
        cards = [rubric.score(assessment) for rubric in catalogue.list_rubrics()]
        scores[name] = {f"{card.rubric}@{card.version}": _plain(card) for card in cards}
    return scores


def read_dossiers() -> Iterator[tuple[str, bytes]]:
    """Name and bytes of every capture, recorded probe, synthetic project and case."""
    for folder in ("captures", "recorded", "projects"):
        for path in sorted((DOSSIERS / folder).glob("*.json")):
            yield path.stem, path.read_bytes()
    for line in (DOSSIERS / "cases.jsonl").read_bytes().splitlines():
        document = json.loads(line)
        yield f"case:{document['case']}", json.dumps(document["capture"]).encode()


def find_moves(before: Scores, after: Scores) -> Iterator[Moved]:
    """Yield every score or grade that differs."""
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name, {}), after.get(name, {})
        for rubric in sorted(old.keys() | new.keys()):
            first, second = old.get(rubric), new.get(rubric)
            if first and second and _verdict(first) != _verdict(second):
                yield Moved(name, rubric, _verdict(first), _verdict(second), tuple(_shifts(first, second)))


def list_differences(before: Scores, after: Scores) -> Iterator[str]:
    """Rubrics and dossiers that only one of the revisions has."""
    for what, old, new in (("dossier", set(before), set(after)), ("rubric", _rubrics(before), _rubrics(after))):
        yield from (f"new {what} {name}" for name in sorted(new - old))
        yield from (f"{what} {name} is gone" for name in sorted(old - new))


def _plain(card: Any) -> dict[str, Any]:
    parts = [*card.lines, *(line for dimension in card.dimensions for line in _nested(dimension))]
    lines = [[line.cites, line.at, str(line.points)] for line in parts]
    return {"score": str(card.score), "grade": card.grade or "", "lines": lines}


def _nested(dimension: Any) -> Iterator[Any]:
    yield from dimension.lines
    for component in dimension.components:
        yield from component.lines


def _verdict(card: dict[str, Any]) -> str:
    return f"{card['score']} {card['grade']}".strip()


def _rubrics(scores: Scores) -> set[str]:
    return {name for cards in scores.values() for name in cards}


def _shifts(before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    """The added and removed charges by published id, the largest first."""
    from publish.views.comparisons.score_moves import ChargedLine, find_shifts  # noqa: PLC0415  an old revision may not have it

    old, new = ([ChargedLine(*line) for line in card["lines"]] for card in (before, after))
    for shift in find_shifts(old, new):
        counts = "/".join(f"{sign}{count}" for sign, count in (("+", shift.came), ("-", shift.went)) if count)
        where = f", such as {shift.at}" if shift.at else ""
        yield f"{shift.points:+.2f} {shift.cites} ({counts} lines{where})"


if __name__ == "__main__":
    raise SystemExit(main())
