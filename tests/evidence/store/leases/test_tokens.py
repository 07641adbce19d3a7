"""A holder that lost its lease writes nothing, whatever it does."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import text

from evidence.model import Absent, Reason, ServerId
from evidence.store import DetectedFinding, RunAction, RunEvent, RunState, Stage, Store, open_store
from evidence.store.leases.leasing import find_lost_leases
from tests.evidence.store.build import AS_OF, body, card, planned, record
from tests.servers.postgres import PostgresServer

RUN = "20261121-1"
HOUR = timedelta(hours=1)
ENDED = timedelta(0)


def _lease(store: Store, worker: str, *, tried: int = 0, stage: Stage = Stage.COLLECT) -> dict[ServerId, int]:
    """A lease that ends at once: the holder stands still."""
    return store.lease_servers(RUN, stage, worker, limit=9, ttl=ENDED, now=AS_OF, tried=tried)


def _taken_over(store: Store, count: int = 2, stage: Stage = Stage.COLLECT) -> tuple[dict[ServerId, int], ServerId]:
    """The tokens of a holder that lost the first server to another one, and this server."""
    mine = _lease(store, "slow", stage=stage)
    assert len(mine) == count
    first = min(mine)
    assert store.lease_servers(RUN, stage, "quick", limit=1, ttl=HOUR, now=AS_OF, tried=1).keys() == {first}
    return mine, first


def _finding(server: ServerId) -> DetectedFinding:
    return DetectedFinding(
        id=f"f-{server}", server=server, rule="secret", at="a.py:1", message="a key", severity="error", content="c"
    )


def test_every_lease_has_a_larger_token_also_after_a_release_and_a_postponement(store: Store) -> None:
    [server] = [one.id for one in planned(store, 1)]
    tokens = [_lease(store, "w1")[server]]
    store.release_leases(RUN, Stage.COLLECT, "w1")
    tokens.append(_lease(store, "w2")[server])
    store.postpone_servers(RUN, Stage.COLLECT, [server], delay=ENDED, why="silent", most=9, now=AS_OF)
    tokens.append(_lease(store, "w3")[server])
    tokens.append(_lease(store, "w4", tried=1)[server])
    assert tokens == sorted(set(tokens))


def test_evidence_of_a_lost_lease_is_refused_and_that_of_the_others_is_stored(store: Store) -> None:
    ids = [one.id for one in planned(store, 2)]
    mine, lost = _taken_over(store)
    records = [record(server, body(1)) for server in ids]
    assert store.put_records(RUN, records, done=ids, at=AS_OF, tokens=mine) == {lost}
    [empty, full] = store.read_dossiers(RUN, [lost, max(ids)])
    assert not empty.records
    assert full.records
    assert store.list_pending_servers(RUN, Stage.COLLECT) == [lost]


def test_the_part_that_follows_is_not_begun_by_a_holder_that_lost_its_lease(store: Store) -> None:
    ids = [one.id for one in planned(store, 2, first=Stage.PROBE)]
    mine, lost = _taken_over(store, stage=Stage.PROBE)
    onward = dict.fromkeys(ids, Stage.GITHUB)
    store.put_records(RUN, [], done=ids, at=AS_OF, stage=Stage.PROBE, onward=onward, tokens=mine)
    assert list(_lease(store, "w", stage=Stage.GITHUB)) == [server for server in ids if server != lost]


def test_what_a_holder_of_an_expired_lease_finds_counts_while_no_other_holds_it(store: Store) -> None:
    ids = [one.id for one in planned(store, 2)]
    mine = _lease(store, "slow")
    store.release_expired_leases(RUN, AS_OF)
    assert store.put_records(RUN, [record(ids[0], body(1))], done=ids, at=AS_OF, tokens=mine) == frozenset()
    assert store.put_records(RUN, [record(ids[0], body(1))], done=ids, at=AS_OF, tokens=mine) == frozenset(), "repeated"


def test_scorecards_findings_and_failures_of_a_lost_lease_are_refused(store: Store) -> None:
    ids = [one.id for one in planned(store, 2)]
    store.put_records(RUN, [], done=ids, at=AS_OF)
    mine, lost = _taken_over(store, stage=Stage.SCORE)
    cards = [card(server) for server in ids]
    store.put_findings([_finding(server) for server in ids], AS_OF, run_id=RUN, tokens=mine)
    assert store.record_failure(RUN, lost, Stage.SCORE, "KeyError", tokens=mine) is None
    assert store.put_scorecards(RUN, cards, done=ids, at=AS_OF, tokens=mine) == {lost}
    assert {card.server for card in store.read_scorecards(RUN)} == set(ids) - {lost}
    assert {row.finding.server for row in store.read_findings()} == set(ids) - {lost}
    assert store.list_failures(RUN) == []


def test_a_holder_that_lost_its_lease_postpones_nothing(store: Store) -> None:
    ids = [one.id for one in planned(store, 2)]
    mine, lost = _taken_over(store)
    later = store.postpone_servers(RUN, Stage.COLLECT, ids, delay=HOUR, why="timeout", most=2, now=AS_OF, tokens=mine)
    assert later == [server for server in ids if server != lost]
    assert store.renew_leases(RUN, Stage.COLLECT, "quick", ids, ttl=HOUR, now=AS_OF) == [lost]


def test_a_holder_from_before_a_reopening_has_lost_its_lease(store: Store) -> None:
    [server] = [one.id for one in planned(store, 1)]
    mine = _lease(store, "slow")
    store.set_run_state(RUN, RunState.WITHHELD, AS_OF)
    store.put_records(RUN, [record(server, Absent(Reason.TIMEOUT))], done=[server], at=AS_OF)
    event = RunEvent(at=AS_OF, who="ana", what=RunAction.REOPENED)
    assert store.reopen_run(RUN, event, kind="listing", reasons=["timeout"]) == 1
    assert store.put_records(RUN, [record(server, body(1))], done=[server], at=AS_OF, tokens=mine) == {server}


def test_a_holder_of_a_later_part_from_before_a_reopening_has_lost_its_lease(store: Store) -> None:
    [server] = [one.id for one in planned(store, 1, first=Stage.PROBE)]

    def pass_on() -> None:
        records, onward = [record(server, Absent(Reason.TIMEOUT))], {server: Stage.GITHUB}
        store.put_records(RUN, records, done=[server], at=AS_OF, stage=Stage.PROBE, onward=onward)

    def refused(tokens: dict[ServerId, int]) -> frozenset[ServerId]:
        return store.put_records(RUN, [], done=[server], at=AS_OF, stage=Stage.GITHUB, tokens=tokens)

    pass_on()
    mine = _lease(store, "slow", stage=Stage.GITHUB)
    store.set_run_state(RUN, RunState.WITHHELD, AS_OF)
    event = RunEvent(at=AS_OF, who="ana", what=RunAction.REOPENED)
    assert store.reopen_run(RUN, event, kind="listing", reasons=["timeout"]) == 1
    pass_on()
    theirs = _lease(store, "quick", stage=Stage.GITHUB)
    assert (refused(mine), refused(theirs)) == ({server}, frozenset())


@pytest.mark.parametrize("is_taken_over", [False, True])
def test_a_lease_that_expired_while_the_machine_stood_still_is_no_crash(store: Store, *, is_taken_over: bool) -> None:
    planned(store, 1)
    mine = _lease(store, "slow")
    store.release_expired_leases(RUN, AS_OF)
    if is_taken_over:
        assert _lease(store, "quick", tried=1)
    store.excuse_expiry(RUN, Stage.COLLECT, "slow", mine, now=AS_OF)
    assert _lease(store, "w", tried=1 if is_taken_over else 0).keys() == mine.keys()


def test_a_lease_of_another_holder_stays_counted_and_a_postponed_server_stays_suspect(store: Store) -> None:
    [server] = [one.id for one in planned(store, 1)]
    _lease(store, "crashed")
    store.release_expired_leases(RUN, AS_OF)
    mine = _lease(store, "slow", tried=1)
    store.postpone_servers(RUN, Stage.COLLECT, [server], delay=HOUR, why="silent", most=9, now=AS_OF)
    store.excuse_expiry(RUN, Stage.COLLECT, "slow", mine, now=AS_OF)
    later = datetime.now(UTC) + 2 * HOUR  # PostgreSQL has a clock of its own
    assert store.list_crash_suspects(RUN, Stage.COLLECT, later, tries=1) == {server: 2}


def test_the_only_counted_lease_is_not_excused_for_the_holder_before(store: Store) -> None:
    [server] = [one.id for one in planned(store, 1)]
    mine = _lease(store, "slow")
    store.release_leases(RUN, Stage.COLLECT, "slow")
    _lease(store, "quick")
    store.excuse_expiry(RUN, Stage.COLLECT, "slow", mine, now=AS_OF)
    assert store.list_lease_holders(RUN) == ["quick"]
    assert server in mine


def test_renewal_and_results_of_a_holder_wait_for_each_other_and_do_not_deadlock(postgres: PostgresServer) -> None:
    url = postgres.create_database()
    with closing(open_store(url)) as store:
        store.migrate()
        ids = [one.id for one in planned(store, 3)]
        mine = store.lease_servers(RUN, Stage.COLLECT, "w", limit=9, ttl=HOUR, now=AS_OF)
        with store._database.writing() as connection:  # the first item becomes the last row, and rows are read in turn
            key, first = connection.execute(text("SELECT key, id FROM server ORDER BY key LIMIT 1")).one()
            connection.execute(text("UPDATE run_item SET attempts = 1 WHERE server_key = :key"), {"key": key})
            name = connection.engine.url.database
            for way in ("indexscan", "bitmapscan"):
                connection.execute(text(f'ALTER DATABASE "{name}" SET enable_{way} = off'))
    with closing(open_store(url)) as store, ThreadPoolExecutor() as threads:
        with store._database.writing() as connection:
            find_lost_leases(connection, RUN, Stage.COLLECT, {first: mine[first]})
            renewing = threads.submit(store.renew_leases, RUN, Stage.COLLECT, "w", ids, ttl=3 * HOUR, now=AS_OF)
            while not _is_waited_for(store):
                assert not renewing.done()
            assert find_lost_leases(connection, RUN, Stage.COLLECT, mine) == frozenset()
        assert sorted(renewing.result()) == ids


def _is_waited_for(store: Store) -> bool:
    with store._database.reading(alone=True) as connection:
        return bool(connection.scalar(text("SELECT count(*) FROM pg_locks WHERE NOT granted")))
