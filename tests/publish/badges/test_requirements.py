"""The quality gate and the badges: what they need, and that neither hiding evidence nor a finding ever gains one."""

from __future__ import annotations

import json
from collections.abc import Collection
from decimal import Decimal
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from evidence.kinds import access, exchanges, interop, listing, package, registration, repository, trials
from evidence.model import Absent, Dossier, Observed, Reason
from publish.badges import requirements
from publish.badges.requirements import BADGES, GATE_ID, LAB_TESTED, SECURITY_SCANNED, VENDOR_VERIFIED, Award, Judgement
from scoring.engine.assess import assess_dossier
from scoring.engine.assessment import Assessment
from scoring.results.outcome import Finding, Measured
from tests.dossiers import recorded
from tests.publish.judged import NEWEST, judgement, published, receipts, registered, scored, whole, with_records
from tests.sampling import some

REMOTE = "https://mcp.notes.example/mcp"
SERVERS = {"package": whole(), "remote": whole(REMOTE), "scripted": recorded()["scripted-5"]}
KINDS = sorted({kind for evidence in SERVERS.values() for kind in evidence.records})


@cache
def assessed(name: str) -> Assessment:
    return assess_dossier(SERVERS[name], NEWEST)


def find_award(judged: Judgement, name: str) -> Award | None:
    return next((award for award in (judged.gate, *judged.badges) if award.id == name), None)


def test_a_server_of_which_everything_is_known_is_indexed_and_has_every_badge() -> None:
    for evidence in (whole(), whole(REMOTE)):
        judged = judgement(evidence)
        assert (judged.indexed, judged.earned, judged.version) == (True, BADGES, requirements.GATE_VERSION)


def test_a_server_that_was_never_opened_is_not_tested_rather_than_refused() -> None:
    locked = Absent(Reason.OAUTH_REQUIRED, "401")
    records = whole(REMOTE).records
    hidden = with_records(whole(REMOTE), {kind: locked for kind in records if kind != registration.KIND})
    lab = find_award(judgement(hidden), LAB_TESTED)
    assert lab is not None
    assert [criterion.has for criterion in lab.criteria if criterion.requirement.id == "tools-called"] == [None]
    nothing = judgement(replace(whole(REMOTE), records={}))
    assert not any(award.tested for award in nothing.badges)
    assert nothing.earned == ()


@settings(derandomize=True, max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.sampled_from(sorted(SERVERS)),
    st.sets(st.sampled_from(KINDS)),
    st.sets(st.sampled_from(KINDS), min_size=1),
    st.sampled_from([*Reason, None]),
)
def test_hiding_evidence_never_gains_a_badge_nor_passes_the_gate(
    name: str, first: set[str], more: set[str], why: Reason | None
) -> None:
    assert_no_gain(hiding(SERVERS[name], first, why), hiding(SERVERS[name], first | more, why))


@pytest.mark.parametrize("kind", some(KINDS, 4))
def test_a_kind_alone_that_is_hidden_gains_nothing(kind: str) -> None:
    for evidence in SERVERS.values():
        assert_no_gain(evidence, hiding(evidence, {kind}, Reason.UNREACHABLE))


@settings(derandomize=True, max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(["package", "remote"]), st.data())
def test_another_finding_never_gains_a_badge(name: str, data: Any) -> None:
    assessment = assessed(name)
    questions = [question for question, it in assessment.outcomes.items() if isinstance(it, Measured) and it.checked]
    question = data.draw(st.sampled_from(questions))
    outcome = assessment.outcomes[question]
    assert isinstance(outcome, Measured)
    finding = Finding(question.rule, "tools/0", "made up", "", (0,))
    worse = replace(outcome, findings=(*outcome.findings, finding))
    after = replace(assessment, outcomes={**assessment.outcomes, question: worse})
    had = requirements.judge_server(published(SERVERS[name], scored(assessment)))
    has = requirements.judge_server(published(SERVERS[name], scored(after)))
    assert set(has.earned) <= set(had.earned)
    assert has.indexed <= had.indexed


@pytest.mark.parametrize(
    ("member", "value"),
    [("score", Decimal(99)), ("floor", Decimal(100)), ("coverage", Decimal("0.99")), ("version", 99), ("rubric", "x")],
)
def test_a_receipt_that_does_not_follow_from_its_lines_does_not_pass(member: str, value: Any) -> None:
    cards = receipts(whole())
    forged = [replace(card, **{member: value}) if card.rubric == "adaptive" else card for card in cards]
    assert not requirements.judge_server(published(whole()), forged).indexed
    assert requirements.judge_server(published(whole()), cards).indexed


def test_a_forged_weight_does_not_pass() -> None:
    cards = receipts(whole())
    parts = cards[0].dimensions
    assert cards[0].rubric == "adaptive"
    heavier = (replace(parts[0], base_weight=Decimal(90)), *parts[1:])
    assert not requirements.judge_server(
        published(whole()), [replace(cards[0], dimensions=heavier), *cards[1:]]
    ).indexed


def test_a_receipt_about_other_evidence_or_a_missing_one_does_not_pass() -> None:
    cards = receipts(whole())
    other = replace(cards[0], evidence={**cards[0].evidence, listing.KIND: "0" * 64})
    assert not requirements.judge_server(published(whole()), [other, *cards[1:]]).indexed
    assert not requirements.judge_server(published(whole()), cards[:-1]).indexed
    assert not requirements.judge_server(
        published(whole()), [replace(cards[0], versions={"ruleset": "older"}), *cards[1:]]
    ).indexed


@pytest.mark.parametrize(
    ("ref", "kind", "members"),
    [
        (REMOTE, access.KIND, {"class": "gated_at_list"}),
        ("npm:notes-mcp", package.KIND, {"version_exists": False}),
    ],
)
def test_evidence_that_contradicts_the_listing_does_not_pass(ref: str, kind: str, members: dict[str, Any]) -> None:
    evidence = whole(ref)
    assert judgement(evidence).indexed
    spoiled = with_records(evidence, {kind: {**body(evidence, kind), **members}})
    assert criterion(spoiled, GATE_ID, "consistency") < 1


def test_a_list_that_was_not_read_to_the_end_is_not_complete() -> None:
    listed = body(whole(), listing.KIND)
    listed["lists"]["tools"]["end"] = "capped"
    assert criterion(with_records(whole(), {listing.KIND: listed}), GATE_ID, "completeness") == Decimal("0.75")


def test_safe_tools_have_to_be_called() -> None:
    tried = body(whole(), trials.KIND)
    calls = [row for row in tried["trials"] if row["kind"] == "call"]
    left = [{**row, "reason": "no_arguments", "detail": ""} for row in calls[1:]]
    few = {**tried, "trials": calls[:1], "skipped": left}
    evidence = with_records(whole(), {trials.KIND: few})
    assert criterion(evidence, LAB_TESTED, "tools-called") == Decimal(1) / len(calls)
    assert LAB_TESTED not in judgement(evidence).earned


def test_a_deed_that_was_tried_does_not_count_as_a_reading_tool_that_was_called() -> None:
    tried = body(whole(), trials.KIND)
    calls = [row for row in tried["trials"] if row["kind"] == "call"]
    deeds = [{**calls[0], "index": 100 + number, "class": "write"} for number in range(8)]
    left = [{**row, "reason": "no_arguments", "detail": ""} for row in calls[1:]]
    few = {**tried, "trials": [calls[0], *deeds], "skipped": left}
    evidence = with_records(whole(), {trials.KIND: few})
    assert criterion(evidence, LAB_TESTED, "tools-called") == Decimal(1) / len(calls)


def test_unseen_dependencies_or_code_cost_the_security_badge() -> None:
    closed = hiding(whole(REMOTE), {"source", "secrets", "dependencies", "advisories"}, Reason.NO_REPOSITORY)
    judged = judgement(closed)
    assert SECURITY_SCANNED not in judged.earned
    assert judged.indexed


@pytest.mark.parametrize(
    ("name", "ref", "earned"),
    [
        ("example.notes/mcp", "https://mcp.notes.example/mcp", True),
        ("example.other/mcp", "https://mcp.notes.example/mcp", False),
        ("dev.workers/mcp", "https://notes.workers.dev/mcp", False),  # a shared host belongs to no publisher
    ],
)
def test_a_verified_namespace_of_the_serving_domain_is_a_tie(name: str, ref: str, *, earned: bool) -> None:
    evidence = with_records(whole(ref), {registration.KIND: registered(name=name)})
    evidence = hiding(evidence, {package.KIND, interop.KIND}, Reason.NO_PACKAGE)
    assert (criterion(evidence, VENDOR_VERIFIED, "identity") is not None) is earned


@pytest.mark.parametrize(
    ("kind", "members"),
    [
        (package.KIND, {"mcp_name": "io.github.somebody/else"}),
        (package.KIND, {"repository": {"url": "https://github.com/somebody/else"}}),
        (package.KIND, {"exists": False}),
        (repository.KIND, {"owner": {"login": "somebody"}}),
        (repository.KIND, {"name": "example/other"}),
        (registration.KIND, registered(registry="glama")),
        (registration.KIND, registered(repository={"url": "https://github.com/somebody/else"})),
    ],
)
def test_a_package_a_repository_and_a_registry_that_disagree_are_no_tie(kind: str, members: dict[str, Any]) -> None:
    spoiled = with_records(whole(), {kind: {**body(whole(), kind), **members}})
    assert criterion(spoiled, VENDOR_VERIFIED, "identity") is None
    assert VENDOR_VERIFIED not in judgement(spoiled).earned


def test_control_that_was_proven_is_a_tie() -> None:
    evidence = with_records(whole(), {registration.KIND: registered(registry="glama")})
    assert VENDOR_VERIFIED not in judgement(evidence).earned
    assert VENDOR_VERIFIED in judgement(evidence, controlled=True).earned


def test_a_badge_says_why_it_is_not_earned() -> None:
    judged = judgement(hiding(whole(REMOTE), {exchanges.KIND}, Reason.TIMEOUT))
    assert [criterion.detail for criterion in judged.gate.criteria][1] == "missing: the conversation"


def hiding(evidence: Dossier, kinds: Collection[str], why: Reason | None) -> Dossier:
    """The dossier with some kinds absent for a reason, or not there at all."""
    if why is None:
        return replace(evidence, records={kind: it for kind, it in evidence.records.items() if kind not in kinds})
    return with_records(evidence, {kind: Absent(why, "hidden") for kind in kinds if kind in evidence.records})


def assert_no_gain(before: Dossier, after: Dossier) -> None:
    had, has = judgement(before), judgement(after)
    assert set(has.earned) <= set(had.earned)
    assert has.indexed <= had.indexed


def body(evidence: Dossier, kind: str) -> dict[str, Any]:
    content = evidence.read(kind)
    assert isinstance(content, Observed)
    found: dict[str, Any] = json.loads(content.body)
    return found


def criterion(evidence: Dossier, award: str, requirement: str) -> Any:
    found = find_award(judgement(evidence), award)
    assert found is not None
    return next(it.has for it in found.criteria if it.requirement.id == requirement)
