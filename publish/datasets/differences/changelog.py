"""The changelog of a snapshot: changed versions, added and removed servers, and the largest score changes."""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Final

from publish.datasets.differences.scores import (
    Difference,
    DifferenceCounts,
    PinChanges,
    ScoreMove,
    SnapshotRows,
    compare_versions,
    find_differences,
)
from publish.datasets.snapshot.manifest import Manifest
from publish.datasets.snapshot.reader import OpenedSnapshot

MAX_MOVES: Final = 20
"""Number of servers with the largest score changes that are listed."""

_UNKNOWN: Final = "none"


def render_changelog(earlier: OpenedSnapshot | None, made: Manifest, folder: Path) -> str:
    """The changelog in Markdown; both snapshots are read in step."""
    head = f"# Changes in {made.snapshot}\n\n"
    if earlier is None:
        return head + "There is no earlier snapshot to compare it with.\n"
    tally, most = _counted(find_differences(SnapshotRows(earlier), SnapshotRows(OpenedSnapshot(folder, made))))
    return head + "\n".join(
        (
            f"Since {earlier.manifest.snapshot}.\n",
            *_versions(earlier.manifest, made),
            *_servers(tally),
            *_movers(most),
        )
    )


def _counted(found: Iterator[Difference]) -> tuple[DifferenceCounts, list[ScoreMove]]:
    """The counts, and the largest score changes, by points and then by server."""
    tally = DifferenceCounts()
    most: list[tuple[Decimal, str, str, ScoreMove]] = []

    def moved() -> Iterator[tuple[Decimal, str, str, ScoreMove]]:
        for one in found:
            tally.add(one)
            if isinstance(one, ScoreMove) and one.points:
                yield -abs(one.points), one.server, one.rubric, one

    most = heapq.nsmallest(MAX_MOVES, moved(), key=lambda entry: entry[:3])
    return tally, [entry[3] for entry in most]


def _versions(before: Manifest, after: Manifest) -> Iterator[str]:
    yield "| version | before | now |\n|---|---|---|"
    for name, (old, new) in compare_versions(before, after).items():
        yield f"| {name} | {old} | {new} |"
    yield ""
    changed = PinChanges(before.pins, after.pins).changed
    if changed:
        yield "Pins that differ:\n"
        for name, (was, now) in changed.items():
            yield f"- `{name}`: {was or _UNKNOWN} → {now or _UNKNOWN}"
        yield ""


def _servers(tally: DifferenceCounts) -> Iterator[str]:
    yield f"{tally.came} servers came and {tally.went} went. Of the receipts that moved {tally.up} rose,"
    yield f"{tally.down} fell, and {tally.other} have no score on one side, or another grade only.\n"
    for title, counts in (("Because of", tally.causes), ("Under", tally.rubrics)):
        for name, count in sorted(counts.items()):
            yield f"- {title} {name}: {count}"
    yield ""


def _movers(most: list[ScoreMove]) -> Iterator[str]:
    if most:
        yield "| server | rubric | before | now | because of |\n|---|---|---|---|---|"
        for one in most:
            causes = " and ".join(one.causes)
            yield f"| {one.server} | {one.after} | {one.old_score} | {one.new_score} | {causes} |"
        yield ""
