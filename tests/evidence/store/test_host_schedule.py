"""Servers whose turn has not come keep their last evidence with its age, and the order of a plan is kept."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from evidence.kinds import drift
from evidence.kinds.samples import Sample
from evidence.model import Absent, Reason, ServerId, Trigger
from evidence.store import IllegalRunChange, Retest, RetestState, RunAction, RunEvent, Stage, Store
from tests.evidence.store.build import AS_OF, LATER, body, card, planned, record, run

LAST, RUN = "20261120-1", "20261121-1"
TTL = timedelta(minutes=10)
SECOND = timedelta(seconds=1)


def _plan(store: Store, carried: list[str], ids: list[str], run_id: str = RUN) -> None:
    store.add_run(run(run_id))
    store.plan_run(run_id, ids, LATER, carried=carried)


def test_a_carried_server_has_the_evidence_of_its_last_turn_with_its_age(store: Store) -> None:
    ids = [one.id for one in planned(store, 3, LAST)]
    observed = AS_OF - timedelta(days=2)
    seen = [record(ids[0], body(0), observed_at=observed), record(ids[0], Absent(Reason.NO_PACKAGE), "package")]
    store.put_records(LAST, seen, done=ids, at=AS_OF)
    _plan(store, ids[:1], ids)
    (dossier,) = store.read_dossiers(RUN, ids[:1])
    assert dossier.read("listing") == body(0)
    assert dossier.records["listing"].observed_at == observed
    assert dossier.records["package"].content == Absent(Reason.NO_PACKAGE)
    assert store.list_pending_servers(RUN, Stage.COLLECT) == ids[1:]
    assert store.list_pending_servers(RUN, Stage.SCORE) == ids


def test_a_carried_record_does_not_claim_a_scan_of_its_own_run(store: Store) -> None:
    (one,) = [one.id for one in planned(store, 1, LAST)]
    scanned = replace(record(one, body(1), "drift"), observation={drift.LISTING: "0123", drift.CLEAN: True})
    store.put_records(LAST, [scanned], done=[one], at=AS_OF)
    _plan(store, [one], [one])
    (dossier,) = store.read_dossiers(RUN, [one])
    assert dossier.records["drift"].observation == {drift.LISTING: "0123"}


def test_a_carried_server_that_was_never_probed_has_no_evidence_and_is_scored(store: Store) -> None:
    ids = [one.id for one in planned(store, 2, LAST)]
    _plan(store, ids[:1], ids)
    (dossier,) = store.read_dossiers(RUN, ids[:1])
    assert dossier.records == {}
    assert list(store.lease_servers(RUN, Stage.SCORE, "w", limit=9, ttl=TTL, now=LATER)) == ids[:1]


def test_carried_servers_are_counted_apart(store: Store) -> None:
    ids = [one.id for one in planned(store, 4, LAST)]
    _plan(store, ids[:1], ids)
    store.put_records(RUN, [], done=ids[1:3], at=LATER)
    store.put_scorecards(RUN, [], done=ids[:2], at=LATER)
    progress = store.read_progress(RUN)
    assert (progress.planned, progress.carried, progress.carried_scored) == (4, 1, 1)
    assert progress.done == {Stage.COLLECT: 3, Stage.SCORE: 2}
    assert (progress.scheduled_count, progress.scheduled_scored_count) == (3, 1)
    assert store.list_carried_servers(RUN) == ids[:1]


def test_planning_again_carries_nothing_else(store: Store) -> None:
    ids = [one.id for one in planned(store, 3, LAST)]
    _plan(store, ids[:1], ids)
    store.plan_run(RUN, ids, LATER, carried=ids[1:])
    assert store.read_progress(RUN).carried == 1
    assert store.list_pending_servers(RUN, Stage.COLLECT) == ids[1:]


def test_being_carried_is_no_turn(store: Store) -> None:
    ids = [one.id for one in planned(store, 3, "20261118-1")]
    store.put_records("20261118-1", [], done=ids[:2], at=AS_OF - timedelta(days=3))
    _plan(store, ids[:1], ids, LAST)
    store.put_records(LAST, [], done=[ids[1]], at=AS_OF)
    assert store.read_last_collection_times(RUN, ids) == {ids[0]: AS_OF - timedelta(days=3), ids[1]: AS_OF}
    assert store.read_last_collection_times(LAST, ids) == dict.fromkeys(ids[:2], AS_OF - timedelta(days=3))


def test_servers_are_taken_in_the_order_of_the_plan_and_none_before_its_time(store: Store) -> None:
    ids = [one.id for one in planned(store, 4, LAST)]
    now = store.read_database_time(LATER)
    starts = {ids[2]: now - 3 * SECOND, ids[0]: now - 2 * SECOND, ids[3]: now - SECOND, ids[1]: now + TTL}
    store.add_run(run(RUN))
    store.plan_run(RUN, ids, now, starts=starts)
    taken = [list(store.lease_servers(RUN, Stage.COLLECT, "w", limit=1, ttl=TTL, now=now)) for _ in range(4)]
    assert taken == [[ids[2]], [ids[0]], [ids[3]], []]


@pytest.mark.parametrize("what", [RunAction.PAUSED, RunAction.WITHHELD, RunAction.CANCELLED, RunAction.PUBLISHED])
def test_of_a_run_that_does_not_go_on_nothing_is_handed_out(store: Store, what: RunAction) -> None:
    ids = [one.id for one in planned(store, 2)]
    store.put_records(RUN, [], done=ids[:1], at=AS_OF)
    store.apply_run_action(RUN, RunEvent(at=AS_OF, who="operator", what=what))
    for stage in (Stage.COLLECT, Stage.SCORE):
        assert list(store.lease_servers(RUN, stage, "w", limit=9, ttl=TTL, now=LATER)) == []


def _list_postponed(store: Store, limit: int = 9, after: ServerId = "") -> dict[ServerId, str]:
    return store.list_postponed_servers(RUN, {"timeout", "unreachable"}, limit=limit, after=after)


def test_servers_put_back_are_known_with_their_reason_until_they_are_collected(store: Store) -> None:
    ids = [one.id for one in planned(store, 4)]
    for server, why in zip(ids, ("timeout", "unreachable", "the host rests"), strict=False):
        assert store.postpone_servers(RUN, Stage.COLLECT, [server], delay=TTL, why=why, most=1, now=LATER) == [server]
        assert store.postpone_servers(RUN, Stage.COLLECT, [server], delay=TTL, why=why, most=1, now=LATER) == []
    assert _list_postponed(store) == {ids[0]: "timeout", ids[1]: "unreachable"}
    first, last = sorted(ids[:2])
    assert list(_list_postponed(store, limit=1)) == [first]
    assert list(_list_postponed(store, after=first)) == [last]
    store.put_records(RUN, [], done=ids[:1], at=LATER)
    assert _list_postponed(store) == {ids[1]: "unreachable"}


def test_visits_are_counted_from_a_moment_on(store: Store) -> None:
    ids = [one.id for one in planned(store, 3)]
    store.put_probes([(ids[0], Sample(at=AS_OF)), (ids[0], Sample(at=LATER, failure="timeout"))], LATER)
    store.put_probes([(ids[1], None)], LATER)
    assert store.count_probes_without_evidence(ids, AS_OF) == {ids[0]: 2, ids[1]: 1}
    assert store.count_probes_without_evidence(ids, LATER) == {ids[0]: 1, ids[1]: 1}


def test_a_reopened_run_looks_again_at_what_failed_through_us_and_at_nothing_else(store: Store) -> None:
    ids = [one.id for one in planned(store, 4)]
    ours, theirs = Absent(Reason.COLLECTOR_ERROR, "KeyError"), Absent(Reason.TIMEOUT)
    found = [record(ids[0], ours), record(ids[0], body(0), "package"), record(ids[1], theirs), record(ids[2], body(2))]
    store.put_records(RUN, found, done=ids[:3], at=AS_OF)
    store.put_scorecards(RUN, [card(each) for each in ids[:2]], done=ids[:2], at=AS_OF)
    for _ in range(3):
        store.record_failure(RUN, ids[2], Stage.SCORE, "ZeroDivisionError")
    store.apply_run_action(RUN, RunEvent(at=LATER, who="hallmark", what=RunAction.WITHHELD))
    event = RunEvent(at=LATER, who="operator", what=RunAction.REOPENED)
    assert store.reopen_run(RUN, event, kind="listing", reasons={"collector_error", "quarantined"}) == 1
    assert store.list_pending_servers(RUN, Stage.COLLECT) == [ids[0], ids[3]]
    assert store.list_pending_servers(RUN, Stage.SCORE) == [ids[0], ids[2], ids[3]]
    assert {each.server for each in store.read_scorecards(RUN)} == {ids[1]}
    assert [bool(dossier.records) for dossier in store.read_dossiers(RUN, ids)] == [False, True, True, False]
    assert list(store.lease_servers(RUN, Stage.SCORE, "w", limit=9, ttl=TTL, now=LATER)) == [ids[2]]
    store.put_records(RUN, [record(ids[0], body(1))], done=ids[:1], at=LATER)
    assert store.read_dossiers(RUN, ids[:1])[0].read("listing") == body(1)
    assert store.verify() == []


def test_a_reopened_server_begins_with_its_first_part(store: Store) -> None:
    ids = [one.id for one in planned(store, 1, LAST)]
    store.add_run(run(RUN))
    store.plan_run(RUN, ids, AS_OF, first={ids[0]: Stage.PROBE})
    failed = [record(ids[0], Absent(Reason.COLLECTOR_ERROR))]
    store.put_records(RUN, failed, done=ids, at=AS_OF, stage=Stage.PROBE, onward={ids[0]: Stage.SCAN})
    store.put_records(RUN, [], done=ids, at=AS_OF, stage=Stage.SCAN)
    store.apply_run_action(RUN, RunEvent(at=LATER, who="hallmark", what=RunAction.WITHHELD))
    event = RunEvent(at=LATER, who="operator", what=RunAction.REOPENED)
    assert store.reopen_run(RUN, event, kind="listing", reasons={"collector_error"}) == 1
    assert store.count_due_servers(RUN, LATER) == {Stage.PROBE: 1}


def test_only_a_withheld_run_is_reopened(store: Store) -> None:
    ids = [one.id for one in planned(store, 1)]
    store.put_records(RUN, [record(ids[0], Absent(Reason.COLLECTOR_ERROR))], done=ids, at=AS_OF)
    event = RunEvent(at=LATER, who="operator", what=RunAction.REOPENED)
    with pytest.raises(IllegalRunChange):
        store.reopen_run(RUN, event, kind="listing", reasons={"collector_error"})
    assert store.read_dossiers(RUN, ids)[0].records.keys() == {"listing"}


def test_what_was_said_in_a_retest_since_is_the_last_evidence_of_a_conversation(store: Store) -> None:
    (one,) = [one.id for one in planned(store, 1, LAST)]
    store.put_records(LAST, [record(one, body(1)), record(one, body(2), "drift")], done=[one], at=AS_OF)
    retest = Retest(id="retest", server=one, client="ann", asked_at=AS_OF)
    store.add_run(run("20261120-2-retest", Trigger.RETEST))
    store.put_records("20261120-2-retest", [record(one, body(3)), record(one, body(4), "drift")], at=LATER)
    store.retests.request_retest(retest)
    store.retests.admit_retest("retest", "20261120-2-retest", AS_OF)
    store.retests.finish_retest("retest", RetestState.DONE, LATER)
    _plan(store, [one], [one])
    (dossier,) = store.read_dossiers(RUN, [one])
    assert (dossier.read("listing"), dossier.read("drift")) == (body(3), body(2))
