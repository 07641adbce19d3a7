"""Each flag of a server is set by its own rows, and by those of no other server."""

from __future__ import annotations

from datetime import timedelta

from msgspec.structs import replace

from evidence.store import FindingState, Store
from evidence.store.community.dispute_values import DisputedLine
from evidence.store.listing.server_flags import ServerFlags
from tests.evidence.store.build import AS_OF, planned
from tests.evidence.store.community.test_disputes import LIMITS, dispute
from tests.evidence.store.decisions.test_disclosure import change, spotted
from tests.evidence.store.runs.test_retests import DAY, request

RUN = "20261121-1"


def test_a_server_has_the_flags_of_its_own_rows(store: Store) -> None:
    zero, one, two, three = (one.id for one in planned(store, 4))
    finding = spotted(zero)
    embargoed = spotted(three, 3)
    store.put_findings([finding, embargoed, spotted(three, 4)], AS_OF)
    triage, told = FindingState.PRIVATE_TRIAGE, FindingState.PRIVATE_DISCLOSED
    store.transition_findings({finding.id: change(triage, FindingState.DISMISSED)})
    store.transition_findings({embargoed.id: change(triage, told, recipient="security@example.com")})
    line = DisputedLine(server=one, run=RUN, rubric="lint", version=1, cites="LLM-001", at="", why="short", rule="x")
    store.disputes.put_dispute(dispute(line), LIMITS)
    store.retests.request_retest(replace(request(1), server=two), DAY)
    assert store.listing.find_flags(zero, RUN) == ServerFlags(reviewed=True)
    assert store.listing.find_flags(one, RUN) == ServerFlags(disputed=True)
    assert store.listing.find_flags(two, RUN) == ServerFlags(retested=True)
    assert store.listing.find_flags(three, RUN) == ServerFlags(), "neither finding is decided"
    store.compaction.drop_records(RUN, AS_OF + timedelta(days=100), limit=100)
    assert store.listing.find_flags(three, RUN) == ServerFlags(dropped=True)
    assert store.listing.find_flags("srv_none", "none") == ServerFlags()
