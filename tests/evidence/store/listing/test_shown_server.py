"""A server of the lists is shown with its run, and each of its flags is set by its own rows only."""

from __future__ import annotations

from datetime import timedelta

from msgspec.structs import replace

from evidence.model import ServerId
from evidence.store import FindingState, Store
from evidence.store.community.dispute_values import DisputedLine
from evidence.store.listing.shown_server import ServerFlags
from tests.evidence.store.build import AS_OF
from tests.evidence.store.community.test_disputes import LIMITS, dispute
from tests.evidence.store.decisions.test_disclosure import change, spotted
from tests.evidence.store.listing_samples import RUN, make_many, show
from tests.evidence.store.runs.test_retests import DAY, request


def test_a_server_has_the_flags_of_its_own_rows(store: Store) -> None:
    rows = make_many(4)
    show(store, rows)
    zero, one, two, three = (row.server.id for row in rows)
    finding = spotted(zero)
    embargoed = spotted(three, 3)
    store.put_findings([finding, embargoed, spotted(three, 4)], AS_OF)
    triage, told = FindingState.PRIVATE_TRIAGE, FindingState.PRIVATE_DISCLOSED
    store.transition_findings({finding.id: change(triage, FindingState.DISMISSED)})
    store.transition_findings({embargoed.id: change(triage, told, recipient="security@example.com")})
    line = DisputedLine(server=one, run=RUN, rubric="lint", version=1, cites="LLM-001", at="", why="short", rule="x")
    store.disputes.put_dispute(dispute(line), LIMITS)
    store.retests.request_retest(replace(request(1), server=two), DAY)
    assert find_flags(store, zero) == ServerFlags(reviewed=True)
    assert find_flags(store, one) == ServerFlags(disputed=True)
    assert find_flags(store, two) == ServerFlags(retested=True)
    assert find_flags(store, three) == ServerFlags(), "neither finding is decided"
    store.compaction.drop_records(RUN, AS_OF + timedelta(days=100), limit=100)
    assert find_flags(store, three) == ServerFlags(dropped=True)


def test_a_server_of_the_lists_is_shown_with_its_run(store: Store) -> None:
    rows = make_many(2)
    show(store, rows)
    shown = store.listing.find_shown(rows[1].server.id)
    assert shown is not None
    assert (shown.listed, shown.run) == (rows[1], store.find_run(RUN))
    assert store.listing.find_shown("srv_none") is None


def find_flags(store: Store, server: ServerId) -> ServerFlags:
    shown = store.listing.find_shown(server)
    assert shown is not None
    return shown.flags
