"""What may become of a run, and that everything done to it by hand leaves its trail."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from evidence.store import IllegalRunChange, RunAct, RunEvent, RunState, Stage, Store, UnknownRun
from tests.evidence.store.build import AS_OF, LATER, body, planned, record, run

RUN = "20261121-1"
OPEN = [state for state in RunState if not state.is_final]
FINAL = [state for state in RunState if state.is_final]


def _event(what: RunAct, note: str = "", at: datetime = LATER) -> RunEvent:
    return RunEvent(at=at, who="operator", what=what, note=note)


def _in_state(store: Store, state: RunState, run_id: str = RUN) -> None:
    """A run, planned unless it shall be discovering, moved to a state."""
    store.add_run(run(run_id))
    if state is not RunState.DISCOVERING:
        store.plan(run_id, [], AS_OF)
        store.set_state(run_id, state, AS_OF)


def _state(store: Store, run_id: str = RUN) -> RunState:
    row = store.run(run_id)
    assert row is not None
    return row.state


def test_a_run_moves_only_to_a_state_that_may_follow(store: Store) -> None:
    for before, after in product(RunState, RunState):
        run_id = f"{before}-{after}"
        _in_state(store, before, run_id)
        moved = store.set_state(run_id, after, LATER)
        assert moved is (after in before.next), run_id
        assert _state(store, run_id) is (after if moved else before)


def test_states_that_nothing_follows_are_final() -> None:
    assert set(FINAL) == {RunState.PUBLISHED, RunState.DONE, RunState.ABANDONED, RunState.CANCELLED}


def test_every_open_run_can_be_cancelled(store: Store) -> None:
    for state in OPEN:
        _in_state(store, state, state)
        assert store.act(state, _event(RunAct.CANCELLED, "wrong registry")).state is RunState.CANCELLED


def test_nothing_is_done_to_a_final_run(store: Store) -> None:
    for state in FINAL:
        _in_state(store, state, state)
        for what in (what for what in RunAct if what is not RunAct.STARTED):
            expected = f"{state} cannot be {what.value}: it is {state.value}, which is final"
            with pytest.raises(IllegalRunChange, match=expected):
                store.act(state, _event(what))
        assert _state(store, state) is state
        assert store.events(state) == []


def test_a_run_that_nobody_added_cannot_be_changed(store: Store) -> None:
    with pytest.raises(UnknownRun):
        store.act("nope", _event(RunAct.PAUSED))
    with pytest.raises(UnknownRun):
        store.events("nope")


def test_a_resumed_run_goes_on_where_it_was_paused(store: Store) -> None:
    planned(store, 2)
    assert store.act(RUN, _event(RunAct.PAUSED, "the mirror is moved")).note == "the mirror is moved"
    resumed = store.act(RUN, _event(RunAct.RESUMED, at=LATER + timedelta(hours=1)))
    assert (resumed.state, resumed.planned_at, resumed.note) == (RunState.PLANNED, AS_OF, "")


def test_a_run_that_was_paused_before_it_was_planned_goes_on_discovering(store: Store) -> None:
    store.add_run(run())
    store.act(RUN, _event(RunAct.PAUSED))
    store.plan(RUN, [], LATER)
    assert _state(store) is RunState.PAUSED
    assert store.act(RUN, _event(RunAct.RESUMED)).state is RunState.DISCOVERING


def test_only_a_paused_run_is_resumed_and_only_a_withheld_one_reopened(store: Store) -> None:
    planned(store, 1)
    for what in (RunAct.RESUMED, RunAct.REOPENED):
        with pytest.raises(IllegalRunChange, match="it is under way"):
            store.act(RUN, _event(what))
    store.act(RUN, _event(RunAct.WITHHELD, "7 of 9 by collector_error"))
    with pytest.raises(IllegalRunChange, match="it is withheld"):
        store.act(RUN, _event(RunAct.RESUMED))
    assert store.act(RUN, _event(RunAct.REOPENED)).state is RunState.PLANNED


def test_the_trail_tells_who_did_what_when_and_why(store: Store) -> None:
    planned(store, 1)
    done = [_event(RunAct.STARTED), _event(RunAct.PAUSED, "a\x00b"), _event(RunAct.RESUMED), _event(RunAct.CANCELLED)]
    for event in done:
        store.act(RUN, event)
    assert store.events(RUN) == done


def test_a_cancelled_run_holds_nobody_and_keeps_its_evidence(store: Store) -> None:
    ids = [one.id for one in planned(store, 2)]
    store.put_records(RUN, [record(ids[0], body(1))], done=[ids[0]], at=AS_OF)
    held = store.lease(RUN, Stage.COLLECT, "w", limit=9, ttl=timedelta(minutes=30), now=AS_OF)
    assert len(held) == 1
    store.act(RUN, _event(RunAct.CANCELLED))
    assert store.renew(RUN, Stage.COLLECT, "w", held, ttl=timedelta(minutes=30), now=AS_OF) == []
    assert store.dossiers(RUN, ids)[0].records.keys() == {"listing"}


def test_a_run_that_was_stopped_while_its_manifest_was_made_is_not_published(store: Store) -> None:
    planned(store, 1)
    store.act(RUN, _event(RunAct.CANCELLED))
    assert store.publish(RUN, b"{}", LATER) is False
    assert store.snapshot(RUN) is None
    assert _state(store) is RunState.CANCELLED


def test_a_run_is_published_once(store: Store) -> None:
    planned(store, 1)
    assert store.publish(RUN, b"first", LATER) is True
    assert store.publish(RUN, b"second", LATER) is False
    assert store.snapshot(RUN) == b"first"


def test_of_two_who_decide_at_once_one_is_told_that_it_cannot_be(store: Store) -> None:
    planned(store, 1)
    ready, refused = threading.Barrier(2), []

    def decide(what: RunAct) -> None:
        ready.wait()
        try:
            store.act(RUN, _event(what))
        except IllegalRunChange:
            refused.append(what)

    threads = [threading.Thread(target=decide, args=(what,)) for what in (RunAct.CANCELLED, RunAct.WITHHELD)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # Withheld first and cancelled after it is allowed; cancelled first leaves nothing to withhold.
    assert refused in ([], [RunAct.WITHHELD])
    assert _state(store) is RunState.CANCELLED


def test_workers_share_the_clock_of_the_database(store: Store, url: str) -> None:
    mine = datetime(2001, 1, 1, tzinfo=UTC)
    assert (store.now(mine) == mine) is url.startswith("sqlite")
    assert store.now(mine).tzinfo is UTC
