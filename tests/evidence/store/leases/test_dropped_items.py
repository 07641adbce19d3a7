"""A final run keeps counts in place of its done items, and everything that was read of them can still be read."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from evidence.model import Server
from evidence.store import RunState, Stage, Store
from tests.evidence.store.build import AS_OF, LATER, body, card, planned, record, run
from workers.retention import drop_done_items

LAST, RUN, NEXT = "20261120-1", "20261121-1", "20261122-1"


def _finish(store: Store, run_id: str, servers: list[Server], scored: int, stage: Stage = Stage.COLLECT) -> None:
    """A published run that collected all servers and scored some."""
    ids = [one.id for one in servers]
    store.put_records(run_id, [record(one, body(1)) for one in ids], done=ids, at=LATER, stage=stage)
    store.put_scorecards(run_id, [card(one) for one in ids[:scored]], done=ids[:scored], at=LATER)
    store.set_run_state(run_id, RunState.PUBLISHED, LATER)


@pytest.mark.parametrize("step", [1, 2, 100])
def test_counts_and_planned_servers_outlive_the_items(store: Store, monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    monkeypatch.setattr("workers.retention.ITEMS_PER_STEP", step)
    servers = planned(store, 5, first=Stage.PROBE)
    store.record_failure(RUN, servers[4].id, Stage.SCORE, "a rule raised")
    _finish(store, RUN, servers, 4, Stage.PROBE)
    before = (store.read_progress(RUN), store.list_planned_servers(RUN), store.list_failures(RUN))
    assert store.compaction.list_runs_with_done_items() == [RUN]
    drop_done_items(store, RUN)
    assert store.compaction.list_runs_with_done_items() == []
    assert (store.read_progress(RUN), store.list_planned_servers(RUN), store.list_failures(RUN)) == before
    assert store.read_progress(RUN).done == {Stage.PROBE: 5, Stage.COLLECT: 5, Stage.SCORE: 4}
    drop_done_items(store, RUN)
    assert store.read_progress(RUN) == before[0]


def test_an_unfinished_run_is_no_run_to_drop_items_of(store: Store) -> None:
    servers = planned(store, 1)
    store.put_records(RUN, [], done=[servers[0].id], at=LATER)
    assert store.compaction.list_runs_with_done_items() == []


def test_a_late_result_is_stored_and_dropped_the_next_time(store: Store) -> None:
    """A run that is published past its deadline leaves servers that are still in work."""
    servers = planned(store, 2)
    late = servers[1].id
    _finish(store, RUN, servers[:1], 1)
    drop_done_items(store, RUN)
    store.put_records(RUN, [record(late, body(2))], done=[late], at=LATER)
    store.put_scorecards(RUN, [card(late)], done=[late], at=LATER)
    for _ in range(2):
        assert store.read_progress(RUN).done == {Stage.COLLECT: 2, Stage.SCORE: 2}
        assert store.list_planned_servers(RUN) == sorted(one.id for one in servers)
        drop_done_items(store, RUN)


def test_the_last_collection_of_a_server_is_found_without_its_item(store: Store) -> None:
    """Runs whose items were dropped count with their own time, and not where they carried the server."""
    servers = planned(store, 2, LAST)
    due, carried = (one.id for one in servers)
    _finish(store, LAST, servers, 2)
    store.add_run(replace(run(RUN), as_of=LATER))
    store.plan_run(RUN, [due, carried], LATER, carried=[carried])
    store.put_records(RUN, [record(due, body(2))], done=[due], at=LATER)
    store.put_scorecards(RUN, [card(due), card(carried)], done=[due, carried], at=LATER)
    store.set_run_state(RUN, RunState.PUBLISHED, LATER)
    before = store.read_progress(RUN)
    for each in (LAST, RUN):
        drop_done_items(store, each)
    store.add_run(run(NEXT))
    assert store.read_progress(RUN) == before
    assert (before.carried, before.carried_scored) == (1, 1)
    assert store.list_carried_servers(RUN) == [carried]
    assert store.read_last_collection_times(RUN, [due, carried]) == {due: AS_OF, carried: AS_OF}
    assert store.read_last_collection_times(NEXT, [due, carried]) == {due: LATER, carried: AS_OF}


def test_a_server_is_compared_with_the_last_run_that_scored_it(store: Store) -> None:
    servers = planned(store, 1, LAST)
    _finish(store, LAST, servers, 1)
    drop_done_items(store, LAST)
    planned(store, 1)
    _finish(store, RUN, servers, 0)
    assert store.find_unchanged(RUN, [servers[0].id]) == {servers[0].id: LAST}
