"""Verdicts of checks, and what the tier and the adaptive score make of them."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace

from evidence.kinds import exchanges
from scoring.engine.assess import assess_dossier
from scoring.engine.assessment import Assessment
from scoring.example_builders.conversation import legacy_exchange, modern_exchange
from scoring.protocol import conformance
from scoring.protocol.conformance import CheckResult, Verdict
from scoring.results.outcome import Finding, Level, Measured, NotMeasured, Skipped
from scoring.rubrics.sdk_tier import SDK_TIER_1, count_checks
from tests.dossiers import captures, recorded
from tests.golden import verdicts
from tests.scoring.dossiers import talked


def verdict_of(assessment: Assessment, check: str) -> CheckResult:
    return next(one for one in conformance.evaluate_checks(assessment) if one.check.requirement.id == check)


def judged(check: str, outcome: Any) -> CheckResult:
    """The verdict of a check whose rule answered like this."""
    assessment = assess_dossier(talked(legacy_exchange("initialize", result={})))
    question = next(one for one in conformance.list_checks() if one.requirement.id == check).question
    return verdict_of(replace(assessment, outcomes={**assessment.outcomes, question: outcome}), check)


FINDING = Finding("ping-unanswered", "exchanges/legacy/ping", "wrong", "")
REMARK = replace(FINDING, tolerated=True)


@pytest.mark.parametrize(
    ("outcome", "verdict"),
    [
        (Measured(1), Verdict.PASS),
        (Measured(1, (FINDING,)), Verdict.FAIL),
        (Measured(1, (FINDING, REMARK)), Verdict.FAIL),
        (Measured(1, (REMARK,)), Verdict.WARN),
        (Measured(0), Verdict.NOT_APPLICABLE),
        (Measured(0, (), (Skipped("exchanges", "timeout"),)), Verdict.INCONCLUSIVE),
        (NotMeasured("oauth_required"), Verdict.INCONCLUSIVE),
    ],
)
def test_a_must_ends_in_one_of_five_verdicts(outcome: Any, verdict: Verdict) -> None:
    assert judged("PING-01", outcome).verdict is verdict


def test_an_unmade_check_says_why() -> None:
    assert judged("PING-01", Measured(0, (), (Skipped("exchanges", "timeout"),))).why == "timeout"
    assert judged("PING-01", NotMeasured("oauth_required")).why == "oauth_required"


def test_a_core_probe_leaves_the_other_questions_open() -> None:
    core = verdict_of(assess_dossier(talked(legacy_exchange("initialize", result={}), depth="core")), "PING-01")
    full = verdict_of(assess_dossier(talked(legacy_exchange("initialize", result={}))), "PING-01")
    assert (core.verdict, core.why) == (Verdict.INCONCLUSIVE, "not_asked")
    assert full.verdict is Verdict.NOT_APPLICABLE


def test_an_era_that_did_not_open_is_not_judged() -> None:
    conversation = talked(modern_exchange("discover", status=400, opened=False), legacy_exchange("ping", result={}))
    for found in conformance.evaluate_checks(assess_dossier(conversation)):
        wire = found.check.rule.reads == exchanges.KIND and found.check.requirement.id != "DEP-01"
        if wire and found.check.requirement.revisions == "E":
            assert found.verdict is Verdict.NOT_APPLICABLE, found


def test_without_exchanges_no_check_of_the_wire_is_made() -> None:
    found = conformance.evaluate_checks(assess_dossier(captures()["mcp-server-git"]))
    assert {one.verdict for one in found if one.check.rule.reads == exchanges.KIND} == {Verdict.INCONCLUSIVE}


def test_a_tolerated_deviation_passes_and_a_broken_should_does_not() -> None:
    must = next(one for one in conformance.list_checks() if one.requirement.level is Level.MUST)
    counts = count_checks([CheckResult(must, Verdict.WARN, (REMARK,)), CheckResult(must, Verdict.FAIL, (FINDING,))])
    assert (counts.must_passed, counts.must_total) == (1, 2)


def test_the_receipt_of_a_tier_names_the_check_that_failed() -> None:
    card = SDK_TIER_1.score(assess_dossier(talked(legacy_exchange("ping", result="pong"))))
    assert card.grade == "F"
    line = next(line for line in card.lines if line.cites == "PING-01")
    assert line.at == "exchanges/legacy/ping"
    assert line.points < 0
    assert Decimal(card.facts["start"]) + sum(line.points for line in card.lines) == card.score


def test_a_core_probe_gives_no_tier() -> None:
    card = SDK_TIER_1.score(assess_dossier(talked(legacy_exchange("initialize", result={}), depth="core")))
    assert isinstance(card.score, NotMeasured)
    assert (card.score.reason, card.grade, card.coverage) == ("not_asked", None, 0)


def test_a_check_that_could_not_be_made_lowers_the_coverage_of_a_tier() -> None:
    clear = SDK_TIER_1.score(assess_dossier(talked(legacy_exchange("ping", result={}))))
    unclear = SDK_TIER_1.score(
        assess_dossier(talked(legacy_exchange("ping", result={}), legacy_exchange("unknown-method", status=429)))
    )
    assert 0 < unclear.coverage < clear.coverage


@pytest.mark.parametrize("name", recorded())
def test_recorded_servers_keep_their_verdicts(name: str) -> None:
    assert verdicts.current()[name] == verdicts.committed()[name], "python -m tests.golden.verdicts --write"


@pytest.mark.parametrize("name", ["control-dual", "control-modern", "sdk-http"])
def test_a_conformant_server_fails_no_must(name: str) -> None:
    assert "fail" not in verdicts.committed()[name]
