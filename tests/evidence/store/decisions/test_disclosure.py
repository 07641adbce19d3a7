"""Findings keep their state across nights, and every change of it stays in the trail."""

from __future__ import annotations

from datetime import timedelta

import pytest
from msgspec.structs import replace

from evidence.store import (
    DetectedFinding,
    Disclosure,
    FindingState,
    IllegalTransition,
    Store,
    StoreError,
    UnknownFinding,
    UnknownServer,
)
from tests.evidence.store.build import AS_OF, LATER, planned, run, server

TRIAGE, DISCLOSED, PUBLIC, DISMISSED = (
    FindingState.PRIVATE_TRIAGE,
    FindingState.PRIVATE_DISCLOSED,
    FindingState.PUBLIC_DISCLOSED,
    FindingState.DISMISSED,
)
DAY = timedelta(days=1)


def spotted(of: str, number: int = 0, **parts: str) -> DetectedFinding:
    made = DetectedFinding(
        id=f"fnd_{number:020x}",
        server=of,
        rule="text-injects-instructions",
        at=f"tools/{number}",
        message="gives orders \u202e\0",
        severity="error",
        content="c0ffee",
    )
    return replace(made, **parts)


def change(before: FindingState, after: FindingState, **parts: object) -> Disclosure:
    return replace(Disclosure(at=LATER, who="ana", before=before, after=after), **parts)  # type: ignore[arg-type]


@pytest.fixture
def known(store: Store) -> str:
    """A server with two findings."""
    (one,) = planned(store, 1)
    assert store.put_findings([spotted(one.id, 1), spotted(one.id, 2)], AS_OF) == 2
    return one.id


def test_a_new_finding_is_in_private_triage(store: Store, known: str) -> None:
    rows = store.read_findings()
    assert [row.finding for row in rows] == [spotted(known, 1), spotted(known, 2)]
    assert {(row.state, row.since, row.first_seen, row.last_seen, row.vendor_informed_at) for row in rows} == {
        (TRIAGE, AS_OF, AS_OF, AS_OF, None)
    }
    assert store.read_finding_trail([row.finding.id for row in rows]) == {}


def test_seen_again_it_keeps_its_state_and_first_date_and_has_the_newest_place(store: Store, known: str) -> None:
    first = spotted(known, 1)
    store.transition_finding(first.id, change(TRIAGE, DISMISSED))
    moved = replace(first, at="src/a.py:9", message="line 9")
    assert store.put_findings([moved, spotted(known, 3)], AS_OF + DAY) == 1
    row = store.read_findings(prefix=first.id)[0]
    assert (row.finding, row.state, row.first_seen, row.last_seen) == (moved, DISMISSED, AS_OF, AS_OF + DAY)


def test_an_older_night_scored_again_does_not_move_the_last_date_back(store: Store, known: str) -> None:
    assert store.put_findings([spotted(known, 1, at="an old place")], AS_OF - DAY) == 0
    row = store.read_findings(prefix=spotted(known, 1).id)[0]
    assert (row.last_seen, row.finding.at) == (AS_OF, "tools/1")


def test_findings_of_equal_evidence_are_confirmed_unless_one_was_seen_since(store: Store) -> None:
    one, two, clean = (each.id for each in planned(store, 3))
    store.put_findings([spotted(one, 1), spotted(two, 2), spotted(two, 3)], AS_OF)
    store.put_findings([spotted(one, 4)], AS_OF - DAY)
    store.put_findings([spotted(two, 3)], AS_OF + DAY / 2)
    second = replace(run("20261122-1"), as_of=AS_OF + DAY)
    store.add_run(second)
    earlier = dict.fromkeys((one, two, clean), run().id)
    assert store.confirm_findings(second.id, earlier) == {two}
    seen = {row.finding.id[-1]: row.last_seen for row in store.read_findings()}
    assert seen == {"1": AS_OF + DAY, "2": AS_OF, "3": AS_OF + DAY / 2, "4": AS_OF - DAY}
    assert store.confirm_findings(second.id, earlier) == {one, two}, "a repetition reads the receipts"
    assert store.confirm_findings(run().id, dict.fromkeys((one, clean), second.id)) == {one, clean}
    assert store.confirm_findings(second.id, {}) == frozenset()


def test_a_finding_twice_in_one_batch_is_stored_once(store: Store, known: str) -> None:
    assert store.put_findings([spotted(known, 9), spotted(known, 9)], AS_OF) == 1
    assert store.put_findings([], AS_OF) == 0


def test_findings_are_found_by_server_state_rule_and_beginning_of_their_id(store: Store, known: str) -> None:
    store.put_findings([spotted(known, 16, rule="secret-in-source")], AS_OF)
    store.transition_finding(spotted(known, 2).id, change(TRIAGE, DISCLOSED, recipient="security@vendor.example"))
    assert len(store.read_findings(servers=[known])) == 3
    assert store.read_findings(servers=["srv_nobody"]) == store.read_findings(servers=[]) == []
    assert [row.finding.id for row in store.read_findings(states=[DISCLOSED])] == [spotted(known, 2).id]
    assert [row.finding.id for row in store.read_findings(rule="secret-in-source")] == [spotted(known, 16).id]
    assert [row.finding.id for row in store.read_findings(prefix=spotted(known, 16).id[:-1])] == [spotted(known, 16).id]
    assert store.read_findings(prefix="fnd%") == []


def test_every_change_is_in_the_trail_with_who_when_and_why(store: Store, known: str) -> None:
    finding = spotted(known, 1).id
    disclosed = change(TRIAGE, DISCLOSED, note="mailed", recipient="security@vendor.example")
    published = change(DISCLOSED, PUBLIC, at=LATER + DAY, who="bo")
    assert store.transition_finding(finding, disclosed).vendor_informed_at == LATER
    row = store.transition_finding(finding, published)
    assert (row.state, row.since, row.vendor_informed_at) == (PUBLIC, LATER + DAY, LATER)
    assert store.read_finding_trail([finding, spotted(known, 2).id]) == {finding: [disclosed, published]}


def test_a_note_alone_changes_no_date(store: Store, known: str) -> None:
    noted = change(TRIAGE, TRIAGE, note="looks real")
    row = store.transition_finding(spotted(known, 1).id, noted)
    assert (row.state, row.since) == (TRIAGE, AS_OF)
    assert store.read_finding_trail([row.finding.id]) == {row.finding.id: [noted]}


@pytest.mark.parametrize(("state", "after"), [(PUBLIC, DISMISSED), (PUBLIC, PUBLIC), (DISMISSED, DISCLOSED)])
def test_what_may_not_follow_is_refused_and_leaves_no_trace(
    store: Store, known: str, state: FindingState, after: FindingState
) -> None:
    finding = spotted(known, 1).id
    store.transition_finding(finding, change(TRIAGE, state))
    with pytest.raises(IllegalTransition, match=f"is {state}, which may become private_triage; asked for: {after}"):
        store.transition_finding(finding, change(state, after))
    assert store.read_findings(prefix=finding)[0].state is state
    assert len(store.read_finding_trail([finding])[finding]) == 1


def test_the_second_of_two_decisions_at_once_is_refused(store: Store, known: str) -> None:
    finding = spotted(known, 1).id
    store.transition_finding(finding, change(TRIAGE, DISMISSED))
    with pytest.raises(IllegalTransition, match="is dismissed"):
        store.transition_finding(finding, change(TRIAGE, DISCLOSED))


def test_of_several_changes_all_are_made_or_none(store: Store, known: str) -> None:
    first, second = spotted(known, 1).id, spotted(known, 2).id
    with pytest.raises(IllegalTransition):
        store.transition_findings({first: change(TRIAGE, DISCLOSED), second: change(DISMISSED, TRIAGE)})
    assert {row.state for row in store.read_findings()} == {TRIAGE}
    assert store.read_finding_trail([first, second]) == {}
    moved = store.transition_findings({second: change(TRIAGE, DISCLOSED), first: change(TRIAGE, DISMISSED)})
    assert [(row.finding.id, row.state) for row in moved] == [(second, DISCLOSED), (first, DISMISSED)]


def test_unknown_findings_and_servers_are_named(store: Store, known: str) -> None:
    with pytest.raises(UnknownFinding, match="fnd_none"):
        store.transition_finding("fnd_none", change(TRIAGE, DISCLOSED))
    with pytest.raises(UnknownServer):
        store.put_findings([spotted(server(9).id)], AS_OF)
    assert issubclass(UnknownFinding, StoreError)


def test_a_thousand_findings_are_one_statement_or_two(store: Store, known: str) -> None:
    many = [spotted(known, number) for number in range(1000, 2200)]
    assert store.put_findings(many, AS_OF) == len(many)
    assert store.put_findings(many, AS_OF) == 0
    assert len(store.read_findings(servers=[known])) == len(many) + 2
