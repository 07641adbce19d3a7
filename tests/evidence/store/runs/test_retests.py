"""One open request per server, limits that hold among many at once, and states that follow from one another."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from msgspec.structs import replace

from evidence.model import Trigger
from evidence.store import ClientLimit, Retest, RetestState, Store, UnknownRetest, UnknownServer
from tests.evidence.store.build import AS_OF, LATER, body, card, planned, record, run, server

DAY = ClientLimit(3, AS_OF - timedelta(days=1))
RETEST_RUN = "20261121-2-retest"


def request(number: int, *, of: int = 1, client: str = "somebody") -> Retest:
    return Retest(id=f"retest-{number}", server=server(of).id, client=client, asked_at=AS_OF)


def test_a_server_has_one_open_request_for_all_clients(store: Store) -> None:
    planned(store, 2)
    first = store.retests.request_retest(request(1), DAY)
    assert first == request(1)
    assert store.retests.request_retest(request(2, client="another"), DAY) == first
    assert store.retests.list_unfinished_retests() == [first]


def test_a_finished_request_makes_room_for_the_next(store: Store) -> None:
    planned(store, 2)
    store.retests.request_retest(request(1), DAY)
    assert store.retests.finish_retest("retest-1", RetestState.FAILED, LATER, "our database was away")
    assert store.retests.request_retest(request(2), DAY) == request(2)
    newest, oldest = store.retests.list_retests()
    assert (newest.id, oldest.id) == ("retest-2", "retest-1")
    assert (oldest.state, oldest.reason, oldest.finished_at) == (RetestState.FAILED, "our database was away", LATER)


def test_a_client_gets_no_more_than_its_share_of_a_day(store: Store) -> None:
    planned(store, 6)
    assert [store.retests.request_retest(request(n, of=n), DAY) is not None for n in range(5)] == [True] * 3 + [
        False
    ] * 2
    assert store.retests.request_retest(request(9, of=4, client="another"), DAY) is not None
    assert (
        store.retests.request_retest(request(8, of=5), ClientLimit(3, AS_OF)) is not None
    )  # those of before do not count


def test_many_at_once_make_one_request_and_keep_to_the_limit(store: Store) -> None:
    planned(store, 8)
    with ThreadPoolExecutor(8) as threads:
        same = list(threads.map(lambda n: store.retests.request_retest(request(n), DAY), range(8)))
        others = list(
            threads.map(lambda n: store.retests.request_retest(request(100 + n, of=n, client="b"), DAY), range(2, 8))
        )
    assert len({found.id for found in same if found}) == 1
    assert sum(found is not None for found in others) == 3


def test_a_run_under_some_rubrics_only_is_not_the_run_before(store: Store) -> None:
    one, _ = planned(store, 2)
    store.put_scorecards(run().id, [card(one.id)], done=[one.id], at=AS_OF)
    some = planned(store, 2, "20261121-1-some", options={"rubrics": ["lint@1"]})[0]
    assert some.id == one.id
    store.put_scorecards("20261121-1-some", [card(one.id)], done=[one.id], at=AS_OF)
    store.add_run(run(RETEST_RUN, Trigger.RETEST))
    store.retests.request_retest(replace(request(1), server=one.id), DAY)
    assert store.retests.admit_retest("retest-1", RETEST_RUN, LATER)
    found = store.retests.find_retest("retest-1")
    assert found is not None
    assert found.before == run().id


def test_an_admitted_request_knows_its_run_and_the_run_before(store: Store) -> None:
    one, _ = planned(store, 2)
    store.put_scorecards(run().id, [card(one.id)], done=[one.id], at=AS_OF)
    store.add_run(run(RETEST_RUN, Trigger.RETEST))
    store.retests.request_retest(replace(request(1), server=one.id), DAY)
    assert store.retests.admit_retest("retest-1", RETEST_RUN, LATER)
    assert not store.retests.admit_retest("retest-1", RETEST_RUN, LATER)
    found = store.retests.find_retest("retest-1")
    assert found is not None
    assert (found.state, found.run, found.before) == (RetestState.RUNNING, RETEST_RUN, run().id)
    store.retests.finish_retest("retest-1", RetestState.DONE, LATER)
    again = store.retests.request_retest(replace(request(2), server=one.id))
    assert again == replace(request(2), server=one.id, previous_admitted_at=LATER)
    assert store.retests.list_unfinished_retests() == [again]


def test_a_final_state_stays(store: Store) -> None:
    planned(store, 2)
    store.retests.request_retest(request(1), DAY)
    assert store.retests.finish_retest("retest-1", RetestState.DONE, LATER)
    assert not store.retests.finish_retest("retest-1", RetestState.FAILED, LATER, "too late")
    assert not store.retests.admit_retest("retest-1", run().id, LATER)
    found = store.retests.find_retest("retest-1")
    assert found is not None
    assert not found.is_open
    assert found.state is RetestState.DONE


def test_strangers_are_refused(store: Store) -> None:
    planned(store, 2)
    with pytest.raises(UnknownServer):
        store.retests.request_retest(request(1, of=7), DAY)
    with pytest.raises(UnknownRetest):
        store.retests.admit_retest("retest-9", run().id, LATER)
    assert store.retests.find_retest("retest-9") is None


def test_a_retest_is_no_earlier_night(store: Store) -> None:
    one, _ = planned(store, 2)
    store.put_records(run().id, [record(one.id, body(1))], at=AS_OF)
    store.add_run(run(RETEST_RUN, Trigger.RETEST))
    again = replace(record(one.id, body(1)), observed_at=LATER)
    store.put_records(RETEST_RUN, [again], at=LATER)
    store.add_run(run("20261122-1"))
    assert store.read_earlier("20261122-1", [one.id])[one.id].records["listing"] == record(one.id, body(1))
    assert store.read_retested("20261122-1", [one.id], AS_OF) == {}

    store.retests.request_retest(replace(request(1), server=one.id))
    store.retests.admit_retest("retest-1", RETEST_RUN, LATER)
    store.retests.finish_retest("retest-1", RetestState.DONE, LATER)
    assert store.read_retested("20261122-1", [one.id], AS_OF)[one.id].records["listing"] == again
    assert store.read_retested(RETEST_RUN, [one.id], AS_OF) == {}
    assert store.read_retested("20261122-1", [one.id], LATER) == {}  # too long ago to tell anything


def test_a_request_that_is_given_back_waits_again_unless_it_has_another_run(store: Store) -> None:
    (one,) = planned(store, 1)
    for name in (RETEST_RUN, f"{RETEST_RUN}-b"):
        store.add_run(run(name, Trigger.RETEST))
    asked = replace(request(1), server=one.id)
    store.retests.request_retest(asked)
    store.retests.admit_retest("retest-1", RETEST_RUN, LATER)
    assert not store.retests.requeue_retest("retest-1", f"{RETEST_RUN}-b")
    assert store.retests.requeue_retest("retest-1", RETEST_RUN)
    assert store.retests.find_retest("retest-1") == asked
    assert store.retests.admit_retest("retest-1", f"{RETEST_RUN}-b", LATER)
