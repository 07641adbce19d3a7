"""Plans, stages and attempts: no server is forgotten."""

from __future__ import annotations

from datetime import timedelta

import pytest

from evidence.model import Absent, Reason
from evidence.store import RunState, Stage, StageFailure, Store, UnknownRun, UnknownServer
from tests.evidence.store.build import AS_OF, LATER, body, planned, record, run, server

RUN = "20261121-1"
HOUR = timedelta(hours=1)


def test_plan_holds_every_server_in_both_stages(store: Store) -> None:
    ids = [one.id for one in planned(store, 3)]
    assert store.list_pending_servers(RUN, Stage.COLLECT) == store.list_pending_servers(RUN, Stage.SCORE) == ids
    row = store.find_run(RUN)
    assert row is not None
    assert (row.state, row.planned_at) == (RunState.PLANNED, AS_OF)
    assert store.read_progress(RUN).planned == 3


def test_planned_run_keeps_its_plan(store: Store) -> None:
    servers = planned(store, 3)
    before = store.find_run(RUN)
    store.plan_run(RUN, [servers[0].id], LATER)
    store.plan_run(RUN, [], LATER)
    assert store.find_run(RUN) == before
    assert len(store.list_pending_servers(RUN, Stage.COLLECT)) == 3


def test_planned_names_every_server_of_its_run_whatever_became_of_it(store: Store) -> None:
    ids = [one.id for one in planned(store, 4)]
    planned(store, 2, "20261121-2")
    store.put_records(RUN, [record(ids[0], body(0)), record(ids[1], Absent(Reason.TIMEOUT))], done=ids[:2], at=LATER)
    store.put_scorecards(RUN, [], done=ids[:1], at=LATER)
    store.record_failure(RUN, ids[2], Stage.COLLECT, "no luck")
    store.set_run_state(RUN, RunState.ABANDONED, LATER)
    assert store.list_planned_servers(RUN) == sorted(ids)
    assert len(store.list_planned_servers("20261121-2")) == 2
    with pytest.raises(UnknownRun):
        store.list_planned_servers("nope")


def test_plan_with_an_unknown_server_leaves_nothing(store: Store) -> None:
    store.add_run(run())
    with pytest.raises(UnknownServer, match="srv_none"):
        store.plan_run(RUN, ["srv_none"], AS_OF)
    row = store.find_run(RUN)
    assert row is not None
    assert row.state is RunState.DISCOVERING
    with pytest.raises(UnknownRun):
        store.plan_run("nope", [], AS_OF)


def test_empty_plan_is_a_plan(store: Store) -> None:
    store.add_run(run())
    store.plan_run(RUN, [], AS_OF)
    assert store.read_progress(RUN).planned == 0
    assert store.list_pending_servers(RUN, Stage.COLLECT) == []
    assert list(store.lease_servers(RUN, Stage.COLLECT, "w", limit=9, ttl=HOUR, now=AS_OF)) == []


def test_pending_names_only_the_asked_ones(store: Store) -> None:
    ids = [one.id for one in planned(store, 4)]
    store.put_records(RUN, [], done=[ids[0]], at=LATER)
    assert store.list_pending_servers(RUN, Stage.COLLECT, [ids[2], ids[0], "srv_none"]) == [ids[2]]
    assert store.list_pending_servers(RUN, Stage.COLLECT, []) == []
    assert store.list_pending_servers(RUN, Stage.SCORE) == ids


def test_failure_is_counted_and_gives_the_server_back(store: Store) -> None:
    one, other = (server.id for server in planned(store, 2))
    list(store.lease_servers(RUN, Stage.COLLECT, "w1", limit=9, ttl=HOUR, now=AS_OF))
    assert store.record_failure(RUN, one, Stage.COLLECT, "first") == 1
    assert store.record_failure(RUN, one, Stage.COLLECT, "second") == 2
    assert store.record_failure(RUN, other, Stage.COLLECT, "\x00 \ud800 " + "x" * 5000) == 1
    assert store.record_failure(RUN, one, Stage.SCORE, "other stage") == 1
    assert len(list(store.lease_servers(RUN, Stage.COLLECT, "w2", limit=9, ttl=HOUR, now=AS_OF))) == 2
    with pytest.raises(UnknownServer):
        store.record_failure(RUN, server(77).id, Stage.COLLECT, "not planned")


def test_failures_are_listed_until_they_are_mended(store: Store) -> None:
    one, other = (server.id for server in planned(store, 2))
    for error in ("first", "second"):
        store.record_failure(RUN, one, Stage.SCORE, error)
    store.record_failure(RUN, other, Stage.COLLECT, "a\x00b")
    failure = StageFailure(server=one, stage=Stage.SCORE, attempts=2, last_error="second")
    mended = StageFailure(server=other, stage=Stage.COLLECT, attempts=1, last_error="a\x00b")
    assert store.list_failures(RUN) == [failure, mended]
    store.put_records(RUN, [], done=[other], at=AS_OF)
    assert store.list_failures(RUN) == [failure]


def test_progress_counts_stages_and_absences(store: Store) -> None:
    ids = [one.id for one in planned(store, 4)]
    records = [
        record(ids[0], body(1)),
        record(ids[1], Absent(Reason.TIMEOUT)),
        record(ids[2], Absent(Reason.TIMEOUT, "other detail")),
        record(ids[2], Absent(Reason.INVALID_REGISTRATION), kind="registration"),
    ]
    store.put_records(RUN, records, done=ids[:3], at=AS_OF)
    store.put_scorecards(RUN, [], done=ids[:1], at=AS_OF)
    progress = store.read_progress(RUN)
    assert progress.planned == 4
    assert progress.done == {Stage.COLLECT: 3, Stage.SCORE: 1}
    assert progress.absent == {("listing", "timeout"): 2, ("registration", "invalid_registration"): 1}


def test_a_server_is_collected_when_it_has_passed_its_last_part(store: Store) -> None:
    ids = [one.id for one in planned(store, 3, first=Stage.PROBE)]
    onward = {ids[0]: Stage.GITHUB, ids[1]: Stage.SCAN}
    for _ in range(2):  # a worker that lost its lease writes the same again
        store.put_records(RUN, [record(ids[0], body(1))], done=ids, at=AS_OF, stage=Stage.PROBE, onward=onward)
        assert store.list_pending_servers(RUN, Stage.PROBE) == []
        assert store.list_pending_servers(RUN, Stage.COLLECT) == sorted(ids[:2])
        assert (store.list_pending_servers(RUN, Stage.GITHUB), store.list_pending_servers(RUN, Stage.SCAN)) == (
            [ids[0]],
            [ids[1]],
        )
    store.put_records(RUN, [], done=[ids[1]], at=AS_OF, stage=Stage.SCAN)
    store.put_records(RUN, [], done=[ids[0]], at=AS_OF, stage=Stage.GITHUB, onward={ids[0]: Stage.SCAN})
    assert store.list_pending_servers(RUN, Stage.COLLECT) == [ids[0]]
    store.put_records(RUN, [], done=[ids[0]], at=AS_OF, stage=Stage.SCAN)
    assert store.list_pending_servers(RUN, Stage.COLLECT) == []
    assert store.read_progress(RUN).planned == 3


def test_who_is_collected_at_once_has_passed_every_part(store: Store) -> None:
    (server,) = planned(store, 1, first=Stage.SANDBOX)
    store.put_records(RUN, [], done=[server.id], at=AS_OF)
    assert store.list_pending_servers(RUN, Stage.SANDBOX) == store.list_pending_servers(RUN, Stage.COLLECT) == []
