"""Leases: no server is worked on twice, none is forgotten, and one that kills its workers is found."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from datetime import datetime, timedelta
from typing import Any

import pytest
from sqlalchemy import Engine, event, select

from evidence.model import ServerId
from evidence.store import RunState, Stage, Store, open_store
from evidence.store.database import Database
from evidence.store.leases.leasing import release_expired_leases
from evidence.store.tables.core import RUN_ITEM
from tests.evidence.store.build import AS_OF, body, planned, record
from tests.servers import preloaded

RUN = "20261121-1"
HOUR = timedelta(hours=1)
ENDED = timedelta(0)
"""The time to live of a lease whose holder dies."""


def _lease(
    store: Store,
    worker: str,
    limit: int = 9,
    *,
    stage: Stage = Stage.COLLECT,
    ttl: timedelta = HOUR,
    tried: int = 0,
    now: datetime = AS_OF,
) -> list[ServerId]:
    return list(store.lease_servers(RUN, stage, worker, limit=limit, ttl=ttl, now=now, tried=tried))


def _die(store: Store, worker: str, limit: int = 9, *, tried: int = 0, stage: Stage = Stage.COLLECT) -> list[ServerId]:
    return _lease(store, worker, limit, ttl=ENDED, tried=tried, stage=stage)


def _renew(store: Store, worker: str, servers: list[ServerId], *, ttl: timedelta = HOUR) -> list[ServerId]:
    return store.renew_leases(RUN, Stage.COLLECT, worker, servers, ttl=ttl, now=AS_OF)


def test_two_workers_never_hold_the_same_server(store: Store) -> None:
    ids = [one.id for one in planned(store, 5)]
    first, second = _lease(store, "w1", 3), _lease(store, "w2", 3)
    assert (len(first), len(second)) == (3, 2)
    assert sorted(first + second) == ids
    assert _lease(store, "w3", 3) == []


def test_what_a_dead_worker_held_is_taken_over_and_counted(store: Store) -> None:
    ids = [one.id for one in planned(store, 2)]
    assert _die(store, "killed") == ids
    assert _lease(store, "w2") == []
    assert _lease(store, "w2", tried=1) == ids


def test_a_worker_is_not_handed_what_it_holds_already(store: Store) -> None:
    ids = [one.id for one in planned(store, 2)]
    assert _die(store, "slow") == ids
    assert _lease(store, "slow", tried=1) == []


def test_a_renewed_lease_does_not_end(store: Store) -> None:
    ids = [one.id for one in planned(store, 3)]
    _die(store, "w1", 2)
    assert _renew(store, "w1", ids) == ids[:2]
    assert _lease(store, "w2", tried=1) == []
    assert _renew(store, "w2", ids) == []


def test_what_is_done_or_taken_over_is_not_renewed(store: Store) -> None:
    ids = [one.id for one in planned(store, 3)]
    _die(store, "w1")
    store.put_records(RUN, [], done=ids[:1], at=AS_OF)
    assert _lease(store, "w2", 1, tried=1) == ids[1:2]
    assert _renew(store, "w1", ids) == ids[2:]


def test_a_young_lease_is_held_and_stays_as_it_is(url: str) -> None:
    with closing(Database(url)) as database, closing(Store(database)) as store:
        ids = [one.id for one in planned(store, 2)]

        def until() -> set[datetime | None]:
            with database.reading() as connection:
                collecting = RUN_ITEM.c.stage == Stage.COLLECT.value
                return set(connection.scalars(select(RUN_ITEM.c.leased_until).where(collecting)))

        _lease(store, "w1")
        before = until()
        assert _renew(store, "w1", ids) == ids
        assert until() == before
        assert _renew(store, "w1", ids, ttl=2 * HOUR) == ids
        assert min(at for at in until() if at) > max(at for at in before if at)


def _explain(database: Database, statement: str, parameters: Any) -> str:
    """The plan of a statement. PostgreSQL reads few rows whole and sorts them, unless an index spares it both."""
    if database.is_sqlite:
        with database.reading() as connection:
            return str(connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters).all())
    with database.writing() as connection:
        connection.exec_driver_sql("ANALYZE run_item, server")  # autovacuum might or might not have done it
    with database.streaming() as connection:
        for way in ("seqscan", "bitmapscan", "sort"):
            connection.exec_driver_sql(f"SET LOCAL enable_{way} = off")
        return str(connection.exec_driver_sql(f"EXPLAIN {statement}", parameters).all())


@pytest.mark.parametrize("stage", [Stage.COLLECT, Stage.SCORE])
def test_a_lease_ends_with_the_last_one_that_it_takes(url: str, stage: Stage) -> None:
    """It follows an index, and sorts nothing of what waits."""
    asked: list[tuple[str, Any]] = []
    with closing(Database(url)) as database, closing(Store(database)) as store:
        ids = [one.id for one in planned(store, 300)]
        store.put_records(RUN, [], done=ids[:100], at=AS_OF)

        def keep(connection: Any, cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
            if statement.startswith("SELECT run_item.server_key"):
                asked.append((statement, parameters))

        event.listen(Engine, "before_cursor_execute", keep)
        try:
            assert len(_lease(store, "w1", 7, stage=stage)) == 7
        finally:
            event.remove(Engine, "before_cursor_execute", keep)
        [(statement, parameters)] = asked
        steps = _explain(database, statement, parameters)
    assert "ix_run_item_waiting" in steps, steps
    assert "TEMP B-TREE" not in steps, steps
    assert "Sort" not in steps, steps


def test_what_is_given_back_was_not_handed_out(store: Store) -> None:
    planned(store, 4)
    mine = _lease(store, "w1", 2)
    _lease(store, "w2", 2)
    store.release_leases(RUN, Stage.COLLECT, "w1")
    assert _lease(store, "w3") == mine


def test_giving_back_does_not_undo_earlier_deaths(store: Store) -> None:
    ids = [one.id for one in planned(store, 1)]
    _die(store, "dead")
    assert _lease(store, "w1", tried=1) == ids
    store.release_leases(RUN, Stage.COLLECT, "w1")
    assert _lease(store, "w2") == []
    assert _lease(store, "w2", tried=1) == ids


def test_who_was_handed_out_three_times_without_an_end_is_lost(store: Store) -> None:
    ids = [one.id for one in planned(store, 2)]
    for tried in range(3):
        assert store.list_crash_suspects(RUN, Stage.COLLECT, AS_OF) == {}
        assert _die(store, f"w{tried}", tried=tried) == ids
    assert list(store.list_crash_suspects(RUN, Stage.COLLECT, AS_OF).items()) == [(server, 3) for server in ids]
    assert all(_lease(store, "w4", tried=tried) == [] for tried in range(3))
    store.put_records(RUN, [], done=ids, at=AS_OF)
    assert store.list_crash_suspects(RUN, Stage.COLLECT, AS_OF) == {}


def test_who_is_being_tried_for_the_third_time_is_not_lost_yet(store: Store) -> None:
    planned(store, 1)
    for tried in range(2):
        _die(store, f"w{tried}", tried=tried)
    assert _lease(store, "third", tried=2)
    assert store.list_crash_suspects(RUN, Stage.COLLECT, AS_OF) == {}


def test_done_server_is_neither_pending_nor_leased(store: Store) -> None:
    ids = [one.id for one in planned(store, 2)]
    _die(store, "w1")
    store.put_records(RUN, [record(ids[0], body(1))], done=[ids[0]], at=AS_OF)
    assert store.list_pending_servers(RUN, Stage.COLLECT) == [ids[1]]
    assert _lease(store, "w2", tried=1) == [ids[1]]


def test_only_what_is_collected_is_offered_for_scoring(store: Store) -> None:
    ids = [one.id for one in planned(store, 3)]
    assert _lease(store, "w1", stage=Stage.SCORE) == []
    store.put_records(RUN, [], done=ids[:2], at=AS_OF)
    assert store.count_due_servers(RUN, AS_OF) == {Stage.SCORE: 2}
    assert _lease(store, "w1", stage=Stage.SCORE) == ids[:2]
    assert store.count_due_servers(RUN, AS_OF) == {}


def test_what_cannot_be_scored_is_left_alone_after_three_tries(store: Store) -> None:
    ids = [one.id for one in planned(store, 1)]
    store.put_records(RUN, [], done=ids, at=AS_OF)
    for attempt in range(3):
        assert _lease(store, f"w{attempt}", stage=Stage.SCORE) == ids
        assert store.record_failure(RUN, ids[0], Stage.SCORE, "a rule raised") == attempt + 1
    assert _lease(store, "w4", stage=Stage.SCORE) == []
    assert store.count_due_servers(RUN, AS_OF) == {}


def test_who_is_put_back_waits_and_not_for_ever(store: Store) -> None:
    ids = [one.id for one in planned(store, 2, first=Stage.PROBE)]
    one, other = ids
    _lease(store, "w1", stage=Stage.PROBE)
    put_back = {"delay": HOUR, "why": "its host does not answer", "most": 2, "now": AS_OF}
    assert store.postpone_servers(RUN, Stage.PROBE, [one], **put_back) == [one]  # type: ignore[arg-type]
    assert _lease(store, "w2", stage=Stage.PROBE) == []
    assert store.count_due_servers(RUN, AS_OF) == {}
    assert store.postpone_servers(RUN, Stage.PROBE, ids, **(put_back | {"delay": ENDED})) == ids  # type: ignore[arg-type]
    assert store.count_due_servers(RUN, AS_OF) == {Stage.PROBE: 2}
    assert store.postpone_servers(RUN, Stage.PROBE, ids, **put_back) == [other]  # type: ignore[arg-type]
    assert _lease(store, "w2", stage=Stage.PROBE) == [one]


def test_nothing_is_handed_out_of_a_run_that_is_paused(store: Store) -> None:
    ids = [one.id for one in planned(store, 2)]
    store.set_run_state(RUN, RunState.PAUSED, AS_OF)
    assert _lease(store, "w1") == []
    store.set_run_state(RUN, RunState.PLANNED, AS_OF)
    assert _lease(store, "w1") == ids


def test_only_leases_without_renewal_are_released(store: Store) -> None:
    planned(store, 5)
    _die(store, "dead", 3)
    held = _lease(store, "alive")
    assert len(held) == 2
    assert store.release_expired_leases(RUN, AS_OF) == {Stage.COLLECT: 3}
    assert store.release_expired_leases(RUN, AS_OF) == {}
    store.release_leases(RUN, Stage.COLLECT, "dead")
    assert len(_lease(store, "w2", tried=1)) == 3


def test_reaping_many_takes_them_in_portions(url: str) -> None:
    with closing(Database(url)) as database, closing(Store(database)) as store:
        planned(store, 5)
        assert len(_die(store, "dead", 3)) == 3
        assert len(_die(store, "gone", 2, stage=Stage.COLLECT)) == 2
        with database.writing() as connection:
            assert release_expired_leases(connection, RUN, AS_OF, 2) == {Stage.COLLECT: 2}
        assert store.release_expired_leases(RUN, AS_OF, most=2) == {Stage.COLLECT: 3}
        assert store.release_expired_leases(RUN, AS_OF, most=2) == {}
        assert store.count_held_items(RUN) == 0


def _reap(store: Store) -> None:
    store.release_expired_leases(RUN, AS_OF)


def _find_lost(store: Store) -> None:
    store.list_crash_suspects(RUN, Stage.COLLECT, AS_OF)


def _give_back(store: Store) -> None:
    store.release_leases(RUN, Stage.COLLECT, "w1")


@pytest.mark.parametrize("ask", [_reap, _find_lost, _give_back])
def test_what_was_handed_out_is_found_without_reading_what_waits(url: str, ask: Callable[[Store], None]) -> None:
    asked: list[tuple[str, Any]] = []
    with closing(Database(url)) as database, closing(Store(database)) as store:
        planned(store, 300)
        _lease(store, "w1", 7)

        def keep(connection: Any, cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
            if "leases > 0" in statement:
                asked.append((statement, parameters))

        event.listen(Engine, "before_cursor_execute", keep)
        try:
            ask(store)
        finally:
            event.remove(Engine, "before_cursor_execute", keep)
        (statement, parameters) = asked[0]
        if database.is_sqlite and ask is not _reap:
            pytest.skip("SQLite goes by the stage of the primary key: it has one process, so no other one waits")
        steps = _explain(database, statement, parameters)
    assert "ix_run_item_handed_out" in steps, steps


def test_a_machine_with_a_wrong_clock_takes_nothing_over(store: Store) -> None:
    if store.read_database_time(AS_OF) == AS_OF:
        pytest.skip("SQLite has one machine")
    planned(store, 2)
    _lease(store, "w1")
    far = AS_OF + timedelta(days=365)
    assert _lease(store, "ahead", tried=1, now=far) == []
    assert store.release_expired_leases(RUN, far) == {}


def test_threads_that_lease_share_all_servers_without_overlap(store: Store) -> None:
    ids = [one.id for one in planned(store, 60)]
    taken: list[list[str]] = [[] for _ in range(4)]

    def work(number: int) -> None:
        while batch := _lease(store, f"w{number}", 7):
            taken[number].extend(batch)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(server for batch in taken for server in batch) == ids


_LEASE = """
import json, sys
from tests.evidence.store.leases.test_leasing import RUN, AS_OF, HOUR
from evidence.store import Stage, open_store
url, worker = sys.argv[1:]
store, taken = open_store(url), []
print("ready", flush=True)
sys.stdin.readline()
while batch := list(store.lease_servers(RUN, Stage.COLLECT, worker, limit=5, ttl=HOUR, now=AS_OF)):
    taken.extend(batch)
print(json.dumps(taken))
"""


def test_processes_that_lease_share_all_servers_without_overlap(store: Store, url: str) -> None:
    ids = [one.id for one in planned(store, 200)]
    command = [sys.executable, "-c", _LEASE, url]
    workers = [
        preloaded.Popen([*command, f"w{number}"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for number in range(2)
    ]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    taken = [json.loads(worker.communicate(timeout=300)[0]) for worker in workers]
    assert sorted(taken[0] + taken[1]) == ids
    other = open_store(url)
    assert _lease(other, "late") == []
    other.close()
