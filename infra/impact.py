"""Score every recorded dossier under the committed and the working code and print who moved (`make impact`).

Run before a change of a rule or rubric is committed, so that its `changes/*.score` fragment can say what it moves.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOSSIERS = ROOT / "tests" / "dossiers"

Scores = dict[str, dict[str, str]]


def main() -> int:
    """Print the table of moved scores; the exit status is 0 whether or not something moved."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", default="HEAD", help="revision to compare the working tree with (default: HEAD)")
    parser.add_argument("--score", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.score:
        json.dump(score_all(), sys.stdout)
        return 0
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "archive", options.base], cwd=ROOT, capture_output=True, check=True).stdout
        with tarfile.open(fileobj=BytesIO(archive)) as tar:
            tar.extractall(folder, filter="data")
        before, after = scores_of(Path(folder)), scores_of(ROOT)
    moved = list(moves(before, after))
    for line in moved:
        print(line)
    scores = sum(map(len, after.values()))
    print(f"{len(moved)} of {scores} scores of {len(after)} dossiers moved since {options.base}")
    return 0


def scores_of(code: Path) -> Scores:
    """Scores of all dossiers under the code in a folder, computed by a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(code)}
    command = [sys.executable, str(Path(__file__).resolve()), "--score"]
    output = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, cwd=code).stdout
    scores: Scores = json.loads(output)
    return scores


def score_all() -> Scores:
    """Score and grade of every dossier under every rubric of the importable code."""
    from evidence.kinds.capture import dossier_from_capture  # noqa: PLC0415  which code this is, PYTHONPATH says
    from scoring import assess, catalogue  # noqa: PLC0415

    scores: Scores = {}
    for name, capture in captures():
        assessment = assess.assess(dossier_from_capture(capture, datetime(2026, 1, 1, tzinfo=UTC)))
        cards = [rubric.score(assessment) for rubric in catalogue.rubrics()]
        scores[name] = {f"{card.rubric}@{card.version}": f"{card.score} {card.grade or ''}".strip() for card in cards}
    return scores


def captures() -> Iterator[tuple[str, bytes]]:
    """Name and bytes of every recorded capture and case."""
    for path in sorted((DOSSIERS / "captures").glob("*.json")):
        yield path.stem, path.read_bytes()
    for line in (DOSSIERS / "cases.jsonl").read_bytes().splitlines():
        document = json.loads(line)
        yield f"case:{document['case']}", json.dumps(document["capture"]).encode()


def moves(before: Scores, after: Scores) -> Iterator[str]:
    """One line for each score that differs, came or went."""
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name, {}), after.get(name, {})
        for rubric in sorted(old.keys() | new.keys()):
            if old.get(rubric) != new.get(rubric):
                yield f"{name:40} {rubric:14} {old.get(rubric, 'absent')} -> {new.get(rubric, 'absent')}"


if __name__ == "__main__":
    raise SystemExit(main())
