"""Runs: what a run pins, how it moves, and that a replay changes nothing."""

from __future__ import annotations

import pytest

from evidence.model import Trigger
from evidence.store import RunState, Store, UnknownRun
from tests.evidence.store.build import AS_OF, LATER, run


def test_run_is_read_back_as_it_was_added(store: Store) -> None:
    store.add_run(run(), options={"limit": 3, "only": ["npm:weather"]})
    row = store.find_run("20261121-1")
    assert row is not None
    assert row.run == run()
    assert (row.state, row.planned_at, row.published_at) == (RunState.DISCOVERING, None, None)
    assert row.options == {"limit": 3, "only": ["npm:weather"]}


def test_a_run_that_was_not_added_is_unknown(store: Store) -> None:
    assert store.find_run("20261121-1") is None
    with pytest.raises(UnknownRun, match="20261121-1"):
        store.set_run_state("20261121-1", RunState.ABANDONED, AS_OF)
    with pytest.raises(UnknownRun):
        store.find_snapshot("20261121-1")


def test_adding_a_run_again_changes_nothing(store: Store) -> None:
    store.add_run(run(), options={"limit": 3})
    store.set_run_state("20261121-1", RunState.PUBLISHED, LATER)
    before = store.find_run("20261121-1")
    store.add_run(run(), options={})
    assert store.find_run("20261121-1") == before


def test_runs_are_listed_newest_first(store: Store) -> None:
    for run_id in ("20261120-1", "20261122-1", "20261121-1"):
        store.add_run(run(run_id))
    assert [row.run.id for row in store.list_runs()] == ["20261122-1", "20261121-1", "20261120-1"]
    assert [row.run.id for row in store.list_runs(limit=1)] == ["20261122-1"]


def test_unfinished_runs_are_all_open_ones_of_their_trigger(store: Store) -> None:
    for run_id, trigger in (
        ("1", Trigger.NIGHTLY),
        ("2", Trigger.NIGHTLY),
        ("3", Trigger.NIGHTLY),
        ("4", Trigger.LOCAL),
    ):
        store.add_run(run(run_id, trigger))
    store.set_run_state("3", RunState.ABANDONED, AS_OF)
    store.set_run_state("1", RunState.PAUSED, AS_OF)
    assert [row.run.id for row in store.list_unfinished_runs(Trigger.NIGHTLY)] == ["2", "1"]
    assert store.list_unfinished_runs(Trigger.RETEST) == []


def test_many_runs_of_one_trigger_hide_no_other(store: Store) -> None:
    store.add_run(run("20261121-night", Trigger.NIGHTLY))
    for number in range(30):
        store.add_run(run(f"20261122-{number:02}", Trigger.RETEST))
    assert [row.run.id for row in store.list_runs(5, triggers={Trigger.NIGHTLY, Trigger.LOCAL})] == ["20261121-night"]
    assert [row.run.id for row in store.list_unfinished_runs(Trigger.NIGHTLY)] == ["20261121-night"]


@pytest.mark.parametrize("final", [RunState.PUBLISHED, RunState.ABANDONED])
def test_finished_run_cannot_be_reopened(store: Store, final: RunState) -> None:
    store.add_run(run())
    store.set_run_state("20261121-1", final, AS_OF)
    before = store.find_run("20261121-1")
    store.set_run_state("20261121-1", RunState.PLANNED, LATER)
    store.set_run_state("20261121-1", final, LATER)
    assert store.find_run("20261121-1") == before


def test_first_snapshot_of_a_run_stays(store: Store) -> None:
    store.add_run(run())
    assert store.find_snapshot("20261121-1") is None
    store.put_snapshot("20261121-1", b"\x00\xff", AS_OF)
    store.put_snapshot("20261121-1", b"other", LATER)
    assert store.find_snapshot("20261121-1") == b"\x00\xff"
