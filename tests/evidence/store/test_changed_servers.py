"""Servers with changes since the published run, on both databases; every change gives a new revision."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import timedelta

import pytest
from msgspec.structs import replace

from evidence.model import Run, ServerId, Trigger
from evidence.store import DetectedFinding, Disclosure, FindingState, Retest, RetestState, RunState, Store
from evidence.store.community.claim_values import ClaimState
from evidence.store.community.dispute_values import Dispute, DisputedLine, DisputeState
from tests.evidence.store.build import AS_OF, LATER, ref
from tests.evidence.store.community.test_claims import LIMITS, claim, token
from tests.evidence.store.community.test_disputes import LIMITS as DISPUTE_LIMITS
from tests.evidence.store.community.test_disputes import act, decision, dispute
from tests.evidence.store.listing_samples import make_listed, make_server

NIGHT = Run(id="20261122T030000Z-1", trigger=Trigger.NIGHTLY, as_of=AS_OF, pins={})
EARLIER = replace(NIGHT, id="20261121T030000Z-1", as_of=AS_OF - timedelta(days=1))
AGAIN = replace(NIGHT, id="20261122T090000Z-2", trigger=Trigger.RETEST, as_of=AS_OF + timedelta(hours=6))
SERVERS = sorted((make_server(f"npm:server-{number}", f"x/{number}") for number in range(9)), key=lambda one: one.id)
ONE, OTHER = SERVERS[0].id, SERVERS[1].id


@dataclass
class Heard:
    """The last revision, so that a change can be distinguished from none."""

    store: Store
    revision: str = ""

    def of(self) -> frozenset[ServerId]:
        """The changed servers; the revision must have changed."""
        found = self.store.changed_servers.read_changed_servers()
        before, self.revision = (
            self.revision,
            " ".join(self.store.changed_servers.read_revisions()),
        )
        assert before != self.revision
        assert found is not None
        return found.servers

    def night(self) -> str:
        found = self.store.changed_servers.read_changed_servers()
        assert found is not None
        return found.version


def shown(store: Store, run: Run) -> None:
    """Publish a run with all servers, and put it in the lists."""
    store.add_run(run)
    refs = [(one, ref(one, "official")) for one in SERVERS]
    store.put_registry_page(run.id, "official", refs, cursor=None, done=True, at=run.as_of)
    store.plan_run(run.id, [one.id for one in SERVERS], run.as_of)
    store.publish_run(run.id, b"{}", run.as_of + timedelta(hours=1))
    chance = random.Random(1)
    store.listing.write_listing(run.id, [make_listed(one, chance, run.id) for one in SERVERS], lambda: b"{}")


@pytest.fixture
def heard(store: Store) -> Heard:
    shown(store, NIGHT)
    made = Heard(store)
    assert made.of() == frozenset()
    return made


def test_before_the_first_night_there_is_nothing(store: Store) -> None:
    assert store.changed_servers.read_changed_servers() is None
    assert store.changed_servers.read_revisions() == store.changed_servers.read_revisions()


def test_decisions_about_findings(heard: Heard) -> None:
    found = DetectedFinding(id="fnd_1", server=ONE, rule="r", at="tools/x", message="m", severity="error", content="c")
    heard.store.put_findings([found, replace(found, id="fnd_2", server=OTHER)], AS_OF)
    after = FindingState.PRIVATE_TRIAGE
    heard.store.transition_finding("fnd_1", Disclosure(at=LATER, who="ana", before=after, after=after, note="looked"))
    assert heard.of() == {ONE}


def test_disputes_and_what_was_done_about_them(heard: Heard) -> None:
    line = DisputedLine(server=ONE, run=NIGHT.id, rubric="lint", version=1, cites="x", at="", why="w", rule="x")
    assert isinstance(heard.store.disputes.put_dispute(dispute(line), DISPUTE_LIMITS), Dispute)
    assert heard.of() == {ONE}
    heard.store.disputes.decide_dispute("dsp_1", decision(DisputeState.ACCEPTED), act())
    assert heard.of() == {ONE}


def test_claims_from_the_first_day_to_the_last(heard: Heard) -> None:
    made = claim(ONE)
    assert heard.store.claims.put_claim(made, token(), LIMITS)
    assert heard.of() == {ONE}
    for state in (ClaimState.PROVEN, ClaimState.LAPSED):
        heard.store.claims.record_check(replace(made, state=state))
        assert heard.of() == {ONE}


def test_retests_from_the_request_on(heard: Heard) -> None:
    store = heard.store
    store.retests.request_retest(Retest(id="r1", server=ONE, client="c", asked_at=LATER))
    assert heard.of() == {ONE}
    store.add_run(AGAIN)
    store.retests.admit_retest("r1", AGAIN.id, LATER)
    assert heard.of() == {ONE}
    store.plan_run(AGAIN.id, [ONE], LATER)
    store.set_run_state(AGAIN.id, RunState.DONE, LATER)
    store.retests.finish_retest("r1", RetestState.DONE, LATER)
    assert heard.of() == {ONE}


def test_a_retest_before_the_night_is_part_of_it(heard: Heard) -> None:
    store, early = heard.store, replace(AGAIN, id="20261121T090000Z-2", as_of=EARLIER.as_of)
    store.retests.request_retest(Retest(id="r1", server=ONE, client="c", asked_at=early.as_of))
    store.add_run(early)
    store.retests.admit_retest("r1", early.id, early.as_of)
    store.plan_run(early.id, [ONE], early.as_of)
    assert heard.of() == {ONE}
    store.set_run_state(early.id, RunState.DONE, early.as_of)
    store.retests.finish_retest("r1", RetestState.DONE, early.as_of)
    assert heard.of() == frozenset()


def test_a_retest_that_ended_while_the_night_was_under_way_is_not(heard: Heard) -> None:
    store, early = heard.store, replace(AGAIN, id="20261121T090000Z-2", as_of=EARLIER.as_of)
    store.retests.request_retest(Retest(id="r1", server=ONE, client="c", asked_at=early.as_of))
    store.add_run(early)
    store.retests.admit_retest("r1", early.id, early.as_of)
    store.plan_run(early.id, [ONE], early.as_of)
    store.set_run_state(early.id, RunState.DONE, LATER)
    store.retests.finish_retest("r1", RetestState.DONE, LATER)
    assert heard.of() == {ONE}


def test_a_full_probe_that_follows(heard: Heard) -> None:
    test_a_retest_before_the_night_is_part_of_it(heard)
    store = heard.store
    store.add_run(AGAIN)
    store.full_probes.record_full_probe("r1", AGAIN.id)
    assert heard.of() == {ONE}
    store.plan_run(AGAIN.id, [ONE], LATER)
    store.set_run_state(AGAIN.id, RunState.DONE, LATER)
    assert heard.of() == {ONE}


@pytest.mark.parametrize("what", ["posted again", "another night", "an older night"])
def test_another_night_has_another_name(heard: Heard, what: str) -> None:
    before = heard.night()
    if what == "posted again":
        heard.store.listing.write_listing(
            NIGHT.id, [make_listed(SERVERS[0], random.Random(1), NIGHT.id)], lambda: b"{}"
        )
    elif what == "another night":
        shown(heard.store, replace(NIGHT, id="20261123T030000Z-1"))
    else:
        heard.store.add_run(EARLIER)
        heard.store.plan_run(EARLIER.id, [ONE], LATER)
        heard.store.publish_run(EARLIER.id, b"{}", LATER)
    assert heard.night() != before
    heard.of()


def test_a_change_that_affects_no_server_changes_no_revision(heard: Heard) -> None:
    before = heard.night()
    heard.store.add_run(replace(NIGHT, id="20261123T030000Z-1"))
    assert heard.night() == before
    assert " ".join(heard.store.changed_servers.read_revisions()) == heard.revision
