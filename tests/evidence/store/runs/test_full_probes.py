"""Full probes after re-tests: each re-test is followed once, and what was said in a full probe is remembered."""

from __future__ import annotations

from datetime import timedelta

import pytest

from evidence.model import Trigger
from evidence.store import (
    AwaitingFullProbe,
    FullProbe,
    Retest,
    RetestState,
    RunState,
    Store,
    UnknownRetest,
)
from tests.evidence.store.build import AS_OF, LATER, body, planned, record, run, server

SINCE = AS_OF - timedelta(days=1)
FIRST, SECOND, NIGHT = "20261121-2-retest", "20261121-3-full", "20261121-9"


def done(store: Store, number: int, run_id: str, *, of: int = 0) -> AwaitingFullProbe:
    """A re-test that ended."""
    store.add_run(run(run_id, Trigger.RETEST))
    asked = Retest(id=f"retest-{number}", server=server(of).id, client="somebody", asked_at=AS_OF)
    store.retests.request_retest(asked)
    store.retests.admit_retest(asked.id, run_id, AS_OF)
    store.retests.finish_retest(asked.id, RetestState.DONE, LATER)
    return AwaitingFullProbe(asked.id, asked.server, run_id, LATER)


def test_a_re_test_is_followed_once(store: Store) -> None:
    planned(store, 2)
    one, other = done(store, 1, FIRST), done(store, 2, "20261121-2-other", of=1)
    assert store.full_probes.list_due_probes(SINCE, 9) == [one, other]
    assert store.full_probes.list_due_probes(SINCE, 1) == [one]
    store.add_run(run(SECOND, Trigger.RETEST))
    assert store.full_probes.record_full_probe(one.retest, SECOND)
    assert not store.full_probes.record_full_probe(one.retest, None)
    assert store.full_probes.record_full_probe(other.retest, None)
    assert store.full_probes.list_due_probes(SINCE, 9) == []
    assert store.full_probes.list_running_probes(SINCE) == [FullProbe(one.retest, one.server, SECOND)]
    with pytest.raises(UnknownRetest):
        store.full_probes.record_full_probe("nobody's", None)


def test_only_the_newest_re_test_of_a_server_is_followed_and_none_that_is_old_or_under_way(store: Store) -> None:
    planned(store, 2)
    done(store, 1, FIRST)
    newest = done(store, 2, "20261121-2-second")
    assert store.full_probes.list_due_probes(SINCE, 9) == [newest]
    assert store.full_probes.list_due_probes(LATER + timedelta(seconds=1), 9) == []
    store.retests.request_retest(Retest(id="retest-3", server=newest.server, client="somebody", asked_at=LATER))
    assert store.full_probes.list_due_probes(SINCE, 9) == []


def test_the_next_run_reads_the_evidence_of_a_finished_full_probe(store: Store) -> None:
    ids = [one.id for one in planned(store, 1)]
    one = done(store, 1, FIRST)
    store.put_records(FIRST, [record(ids[0], body(1))], done=[], at=AS_OF)
    store.add_run(run(SECOND, Trigger.RETEST))
    store.put_records(SECOND, [record(ids[0], body(2))], done=[], at=AS_OF)
    store.full_probes.record_full_probe(one.retest, SECOND)
    store.add_run(run(NIGHT))

    def earlier_content() -> object:
        return store.read_retested(NIGHT, ids, SINCE)[ids[0]].records["listing"].content

    assert earlier_content() == record(ids[0], body(1)).content
    assert store.full_probes.find_newest_full_probe(ids[0]) is None
    store.plan_run(SECOND, ids, AS_OF)
    store.set_run_state(SECOND, RunState.DONE, LATER)
    assert earlier_content() == record(ids[0], body(2)).content
    assert store.full_probes.find_newest_full_probe(ids[0]) == SECOND
    assert store.full_probes.list_running_probes(SINCE) == []
