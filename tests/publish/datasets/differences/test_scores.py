"""Who moved between two snapshots, by how much, and because of what."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from evidence.model import Dossier, Run
from evidence.store import Store
from publish.datasets.differences.scores import (
    Cause,
    Difference,
    ListingChange,
    ScoreMove,
    SnapshotRows,
    find_differences,
)
from publish.datasets.differences.stored_run import StoredRunRows
from publish.datasets.export import ExportOrder, export_snapshot
from publish.datasets.snapshot.reader import open_snapshot
from tests.publish import samples
from tests.publish.datasets import nights

Make = Callable[..., Store]
NEXT = replace(nights.RUN, id="20260302T030000Z-nightly")


def side(folder: Path) -> SnapshotRows:
    return SnapshotRows(open_snapshot(folder))


def moved(found: Sequence[Difference]) -> list[ScoreMove]:
    return [one for one in found if isinstance(one, ScoreMove)]


def written(make_store: Make, folder: Path, dossiers: Sequence[Dossier], run: Run = nights.RUN, **order: Any) -> Path:
    export_snapshot(nights.fill(make_store([]), dossiers, run), ExportOrder(run=run.id, **order), folder)
    return folder


def changed(dossier: Dossier) -> Dossier:
    """The dossier with the listing of another server."""
    other = samples.dossiers(9)[7].records["listing"]
    record = replace(dossier.records["listing"], content=other.content)
    return replace(dossier, records={**dossier.records, "listing": record})


def test_nothing_moves_between_a_snapshot_and_itself(written: Path) -> None:
    assert list(find_differences(side(written), side(written))) == []


def test_other_evidence_is_named_by_its_kind(make_store: Make, tmp_path: Path) -> None:
    first, second, third = samples.dossiers(4)[1:]
    before = written(make_store, tmp_path / "a", [first, second])
    after = written(make_store, tmp_path / "b", [changed(first), third], NEXT)
    found = list(find_differences(side(before), side(after)))
    assert {one.server: one.came for one in found if isinstance(one, ListingChange)} == {
        second.server.id: False,
        third.server.id: True,
    }
    assert {one.server for one in moved(found)} == {first.server.id}
    assert {one.causes for one in moved(found)} == {(Cause.EVIDENCE,)}
    assert {one.kinds for one in moved(found)} == {("listing",)}
    for one in moved(found):
        assert one.points is None or one.old_score is None or one.points == (one.new_score or 0) - one.old_score


def test_other_rules_and_other_rubrics_are_distinguished(snapshot: Path, written: Path) -> None:
    def raised(row: dict[str, Any]) -> None:
        if row["rubric"] == "lint" and row["version"] == 2 and row["score"] not in {None, "100"}:
            row["score"] = "100"

    nights.forge(snapshot, "scorecards", raised)
    after = open_snapshot(snapshot)

    def causes(**pins: str) -> set[tuple[Cause, ...]]:
        one = SnapshotRows(replace(after, manifest=replace(after.manifest, pins={**after.manifest.pins, **pins})))
        return {each.causes for each in moved(list(find_differences(side(written), one)))}

    assert causes() == {(Cause.TIME_OR_WITHHELD,)}
    assert causes(ruleset="0" * 16) == {(Cause.RULESET,)}
    assert causes(**{"rubric.lint@2": "other"}) == {(Cause.METHODOLOGY,)}
    assert causes(**{"rubric.lint@1": "other"}) == {(Cause.TIME_OR_WITHHELD,)}


def test_runs_of_the_store_differ_as_their_snapshots_do(make_store: Make, tmp_path: Path) -> None:
    first = samples.dossiers(2)[1]
    store = nights.fill(make_store([]), [first])
    later = replace(NEXT, as_of=NEXT.as_of + timedelta(days=1))
    nights.fill(store, nights.later([changed(first)], timedelta(days=1)), later)
    folders = [tmp_path / "a", tmp_path / "b"]
    for run, folder in zip((nights.RUN, later), folders, strict=True):
        export_snapshot(store, ExportOrder(run=run.id), folder)
    rows = [store.find_run(run.id) for run in (nights.RUN, later)]
    one, other = (StoredRunRows(store, row) for row in rows if row is not None)
    assert list(find_differences(one, other)) == list(find_differences(*map(side, folders)))


def test_the_changelog_says_who_moved_most(make_store: Make, tmp_path: Path) -> None:
    first = samples.dossiers(2)[1]
    before = written(make_store, tmp_path / "a", [first])
    after = written(make_store, tmp_path / "b", [changed(first)], NEXT, earlier=before)
    text = (after / "CHANGELOG.md").read_text()
    assert f"Since {nights.RUN.id}." in text
    assert first.server.id in text
    assert "Because of evidence" in text
    assert "no earlier snapshot" in (before / "CHANGELOG.md").read_text()
