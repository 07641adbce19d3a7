"""What may become of a run, and that everything done to it by hand leaves its trail."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from evidence.store import IllegalRunChange, RunAction, RunEvent, RunState, Stage, Store, UnknownRun
from tests.evidence.store.build import AS_OF, LATER, body, planned, record, run

RUN = "20261121-1"
OPEN = [state for state in RunState if not state.is_final]
FINAL = [state for state in RunState if state.is_final]


def _event(what: RunAction, note: str = "", at: datetime = LATER) -> RunEvent:
    return RunEvent(at=at, who="operator", what=what, note=note)


def _in_state(store: Store, state: RunState, run_id: str = RUN) -> None:
    """A run, planned unless it shall be discovering, moved to a state."""
    store.add_run(run(run_id))
    if state is not RunState.DISCOVERING:
        store.plan_run(run_id, [], AS_OF)
        store.set_run_state(run_id, state, AS_OF)


def _state(store: Store, run_id: str = RUN) -> RunState:
    row = store.find_run(run_id)
    assert row is not None
    return row.state


def test_a_run_moves_only_to_a_state_that_may_follow(store: Store) -> None:
    for before, after in product(RunState, RunState):
        run_id = f"{before}-{after}"
        _in_state(store, before, run_id)
        moved = store.set_run_state(run_id, after, LATER)
        assert moved is (after in before.next), run_id
        assert _state(store, run_id) is (after if moved else before)


def test_states_that_nothing_follows_are_final() -> None:
    assert set(FINAL) == {RunState.PUBLISHED, RunState.DONE, RunState.ABANDONED, RunState.CANCELLED}


def test_every_open_run_can_be_cancelled(store: Store) -> None:
    for state in OPEN:
        _in_state(store, state, state)
        assert store.apply_run_action(state, _event(RunAction.CANCELLED, "wrong registry")).state is RunState.CANCELLED


def test_nothing_is_done_to_a_final_run(store: Store) -> None:
    for state in FINAL:
        _in_state(store, state, state)
        for what in (what for what in RunAction if what is not RunAction.STARTED):
            expected = f"{state} cannot be {what.value}: it is {state.value}, which is final"
            with pytest.raises(IllegalRunChange, match=expected):
                store.apply_run_action(state, _event(what))
        assert _state(store, state) is state
        assert store.read_run_events(state) == []


def test_an_unknown_run_cannot_be_changed(store: Store) -> None:
    with pytest.raises(UnknownRun):
        store.apply_run_action("nope", _event(RunAction.PAUSED))
    with pytest.raises(UnknownRun):
        store.read_run_events("nope")


def test_a_resumed_run_goes_on_where_it_was_paused(store: Store) -> None:
    planned(store, 2)
    assert store.apply_run_action(RUN, _event(RunAction.PAUSED, "the mirror is moved")).note == "the mirror is moved"
    resumed = store.apply_run_action(RUN, _event(RunAction.RESUMED, at=LATER + timedelta(hours=1)))
    assert (resumed.state, resumed.planned_at, resumed.note) == (RunState.PLANNED, AS_OF, "")


def test_a_run_that_was_paused_before_it_was_planned_goes_on_discovering(store: Store) -> None:
    store.add_run(run())
    store.apply_run_action(RUN, _event(RunAction.PAUSED))
    store.plan_run(RUN, [], LATER)
    assert _state(store) is RunState.PAUSED
    assert store.apply_run_action(RUN, _event(RunAction.RESUMED)).state is RunState.DISCOVERING


def test_only_a_paused_run_is_resumed_and_only_a_withheld_one_reopened(store: Store) -> None:
    planned(store, 1)
    for what in (RunAction.RESUMED, RunAction.REOPENED):
        with pytest.raises(IllegalRunChange, match="it is under way"):
            store.apply_run_action(RUN, _event(what))
    store.apply_run_action(RUN, _event(RunAction.WITHHELD, "7 of 9 by collector_error"))
    with pytest.raises(IllegalRunChange, match="it is withheld"):
        store.apply_run_action(RUN, _event(RunAction.RESUMED))
    assert store.apply_run_action(RUN, _event(RunAction.REOPENED)).state is RunState.PLANNED


def test_the_trail_tells_who_did_what_when_and_why(store: Store) -> None:
    planned(store, 1)
    done = [
        _event(RunAction.STARTED),
        _event(RunAction.PAUSED, "a\x00b"),
        _event(RunAction.RESUMED),
        _event(RunAction.CANCELLED),
    ]
    for event in done:
        store.apply_run_action(RUN, event)
    assert store.read_run_events(RUN) == done


def test_a_cancelled_run_holds_no_lease_and_keeps_its_evidence(store: Store) -> None:
    ids = [one.id for one in planned(store, 2)]
    store.put_records(RUN, [record(ids[0], body(1))], done=[ids[0]], at=AS_OF)
    held = list(store.lease_servers(RUN, Stage.COLLECT, "w", limit=9, ttl=timedelta(minutes=30), now=AS_OF))
    assert len(held) == 1
    store.apply_run_action(RUN, _event(RunAction.CANCELLED))
    assert store.renew_leases(RUN, Stage.COLLECT, "w", held, ttl=timedelta(minutes=30), now=AS_OF) == []
    assert store.read_dossiers(RUN, ids)[0].records.keys() == {"listing"}


def test_a_run_that_was_stopped_while_its_manifest_was_made_is_not_published(store: Store) -> None:
    planned(store, 1)
    store.apply_run_action(RUN, _event(RunAction.CANCELLED))
    assert store.publish_run(RUN, b"{}", LATER) is False
    assert store.find_snapshot(RUN) is None
    assert _state(store) is RunState.CANCELLED


def test_a_run_is_published_once(store: Store) -> None:
    planned(store, 1)
    assert store.publish_run(RUN, b"first", LATER) is True
    assert store.publish_run(RUN, b"second", LATER) is False
    assert store.find_snapshot(RUN) == b"first"


def test_one_of_two_decisions_at_once_is_refused(store: Store) -> None:
    planned(store, 1)
    ready, refused = threading.Barrier(2), []

    def decide(what: RunAction) -> None:
        ready.wait()
        try:
            store.apply_run_action(RUN, _event(what))
        except IllegalRunChange:
            refused.append(what)

    threads = [threading.Thread(target=decide, args=(what,)) for what in (RunAction.CANCELLED, RunAction.WITHHELD)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # Withheld first and cancelled after it is allowed; cancelled first leaves nothing to withhold.
    assert refused in ([], [RunAction.WITHHELD])
    assert _state(store) is RunState.CANCELLED


def test_workers_share_the_clock_of_the_database(store: Store, url: str) -> None:
    mine = datetime(2001, 1, 1, tzinfo=UTC)
    assert (store.read_database_time(mine) == mine) is url.startswith("sqlite")
    assert store.read_database_time(mine).tzinfo is UTC
