"""A dispute is filed once a client and line, within limits, and decided one step at a time."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from msgspec.structs import replace

from evidence.store import IllegalTransition, Store
from evidence.store.community.dispute_values import (
    Dispute,
    DisputeDecision,
    DisputedLine,
    DisputeLimit,
    DisputeLimits,
    DisputeState,
    UnknownDispute,
)
from evidence.store.decisions.audit_trail import AuditEntry
from tests.evidence.store.build import AS_OF, LATER, planned

HOSTILE = "\x00</script>\u202e\ud800 \x1b[31m" * 50
LIMITS = DisputeLimits(of_client=10, since=AS_OF - timedelta(days=1), of_server=20, of_line=5)


@pytest.fixture
def line(store: Store) -> DisputedLine:
    server = planned(store, 2)[0].id
    return DisputedLine(
        server=server, run="r", rubric="lint", version=1, cites="LLM-001", at="tools/a", why="too short", rule="x"
    )


def dispute(line: DisputedLine, number: int = 1, client: str = "ann") -> Dispute:
    return Dispute(id=f"dsp_{number}", line=line, reason="it is long enough", client=client, filed_at=AS_OF)


def decision(after: DisputeState, before: DisputeState = DisputeState.OPEN, **changes: object) -> DisputeDecision:
    known: dict[str, object] = {"at": LATER, "who": "op", "before": before, "after": after, "note": "looked"}
    return DisputeDecision(**(known | changes))  # type: ignore[arg-type]


def act(what: str = "dispute.accept") -> AuditEntry:
    return AuditEntry(at=LATER, who="op", token="0a", what=what, subject="dsp_1", after={"state": "accepted"})


def test_what_was_filed_is_read_back_whatever_it_says(store: Store, line: DisputedLine) -> None:
    hostile = replace(dispute(replace(line, at=HOSTILE, why=HOSTILE, rule=None)), reason=HOSTILE, contact=HOSTILE)
    assert store.disputes.put_dispute(hostile, LIMITS) == hostile
    assert store.disputes.find_dispute("dsp_1") == hostile
    assert store.disputes.list_disputes(server=line.server) == [hostile]
    assert store.disputes.list_disputes(states=[DisputeState.ACCEPTED]) == []
    assert store.disputes.find_dispute("dsp_%") is None
    assert store.disputes.list_disputes(prefix="dsp_%") == []


def test_a_client_disputes_a_line_once_and_the_first_words_count(store: Store, line: DisputedLine) -> None:
    with ThreadPoolExecutor(4) as threads:
        filed = list(threads.map(lambda number: store.disputes.put_dispute(dispute(line, number), LIMITS), range(4)))
    assert len({one.id for one in filed if isinstance(one, Dispute)}) == 1
    assert len(store.disputes.list_disputes()) == 1


def test_of_another_version_or_run_it_is_the_same_line(store: Store, line: DisputedLine) -> None:
    first = store.disputes.put_dispute(dispute(line), LIMITS)
    assert store.disputes.put_dispute(dispute(replace(line, version=2, run="later", why="shorter"), 2), LIMITS) == first


@pytest.mark.parametrize(
    ("limits", "vary", "full"),
    [
        (replace(LIMITS, of_client=2), lambda line, n: dispute(replace(line, at=f"tools/{n}"), n), DisputeLimit.CLIENT),
        (replace(LIMITS, of_line=2), lambda line, n: dispute(line, n, client=f"c{n}"), DisputeLimit.LINE),
        (
            replace(LIMITS, of_server=2),
            lambda line, n: dispute(replace(line, at=f"tools/{n}"), n, client=f"c{n}"),
            DisputeLimit.SERVER,
        ),
    ],
)
def test_limits_stop_a_flood_of_disputes(
    store: Store, line: DisputedLine, limits: DisputeLimits, vary: Callable[[DisputedLine, int], Dispute], full: str
) -> None:
    assert [store.disputes.put_dispute(vary(line, number), limits) for number in (1, 2, 3)][2] is full
    assert len(store.disputes.list_disputes()) == 2


def test_strangers_cannot_keep_a_maintainer_from_disputing(store: Store, line: DisputedLine) -> None:
    full = replace(LIMITS, of_line=1, of_server=1)
    store.disputes.put_dispute(dispute(line), full)
    theirs = replace(dispute(line, 2, client="its owner"), by_maintainer=True)
    assert store.disputes.put_dispute(theirs, full) == theirs
    assert store.disputes.put_dispute(dispute(line, 3, client="ben"), full) is DisputeLimit.LINE


def test_what_is_decided_makes_room_for_others(store: Store, line: DisputedLine) -> None:
    store.disputes.put_dispute(dispute(line), replace(LIMITS, of_line=1))
    store.disputes.decide_dispute("dsp_1", decision(DisputeState.DROPPED), act("dispute.drop"))
    again = dispute(line, 2)
    assert store.disputes.put_dispute(again, replace(LIMITS, of_line=1)) == again


def test_a_decision_its_trail_and_the_audit_are_one(store: Store, line: DisputedLine) -> None:
    store.disputes.put_dispute(dispute(line), LIMITS)
    accepted = store.disputes.decide_dispute(
        "dsp_1", decision(DisputeState.ACCEPTED, answer="right", shown=True), act()
    )
    assert (accepted.state, accepted.answer, accepted.is_shown, accepted.decided_at) == (
        DisputeState.ACCEPTED,
        "right",
        True,
        LATER,
    )
    assert store.disputes.find_dispute("dsp_1") == accepted
    assert [one.after for one in store.disputes.read_trail("dsp_1")] == [DisputeState.ACCEPTED]
    (noted,) = store.audit.read_entries(subject="dsp_1")
    assert replace(noted, number=None) == act()
    with pytest.raises(IllegalTransition, match="may become open"):
        store.disputes.decide_dispute("dsp_1", decision(DisputeState.REJECTED, before=DisputeState.ACCEPTED), act())
    assert len(store.disputes.read_trail("dsp_1")) == len(store.audit.read_entries()) == 1


def test_the_second_of_two_decisions_at_once_is_refused(store: Store, line: DisputedLine) -> None:
    store.disputes.put_dispute(dispute(line), LIMITS)
    store.disputes.decide_dispute("dsp_1", decision(DisputeState.ACCEPTED), act())
    with pytest.raises(IllegalTransition, match="is accepted"):
        store.disputes.decide_dispute("dsp_1", decision(DisputeState.REJECTED), act("dispute.reject"))
    with pytest.raises(UnknownDispute):
        store.disputes.decide_dispute("dsp_2", decision(DisputeState.REJECTED), act("dispute.reject"))


def test_the_revision_moves_with_every_change(store: Store, line: DisputedLine) -> None:
    seen = [store.listing.read_revision()]
    store.disputes.put_dispute(dispute(line), LIMITS)
    seen.append(store.listing.read_revision())
    store.disputes.decide_dispute("dsp_1", decision(DisputeState.OPEN, shown=True), act("dispute.show"))
    seen.append(store.listing.read_revision())
    assert len(set(seen)) == 3
