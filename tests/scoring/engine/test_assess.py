"""Assessing: every question once, absence with its reason, and no partial score."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from types import MappingProxyType

import pytest
from msgspec.structs import replace

from evidence.model import Absent, Observed, Reason
from scoring.engine import assess as engine
from scoring.engine import catalogue
from scoring.engine.assess import assess_dossier
from scoring.engine.rubric import Criterion
from scoring.engine.rule import Rule, discover_rules
from scoring.engine.walk import Pages
from scoring.results.outcome import Measured, NotMeasured, Severity, Skipped
from scoring.scopes.base import Tool
from tests.dossiers import captures
from tests.scoring.dossiers import GOOD_ENTRY, GOOD_TOOL, dossier, entered, listed


def outcome(evidence: engine.Dossier, rule: str, pages: Pages = Pages.ALL, **params: int) -> object:
    criterion = Criterion(cites=rule, rule=rule, severity=Severity.INFO, params=params, pages=pages)
    return assess_dossier(evidence).outcome(criterion.question)


@pytest.fixture
def own_plans() -> Iterator[None]:
    """A test with other rules neither uses the plans of the real ones nor leaves its own."""
    engine._plan.cache_clear()
    yield
    engine._plan.cache_clear()


@pytest.mark.usefixtures("own_plans")
def test_each_distinct_question_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: Counter[tuple[str, tuple[object, ...]]] = Counter()

    def counting(declared: Rule) -> Rule:
        def judge(thing: object, **params: object) -> Iterator[str]:
            asked[declared.id, tuple(sorted(params.items()))] += 1
            return declared.judge(thing, **params)

        return replace(declared, judge=judge)

    counted = MappingProxyType({name: counting(declared) for name, declared in discover_rules().items()})
    monkeypatch.setattr(engine.rule, "discover_rules", lambda: counted)
    assess_dossier(dossier(listed=listed(GOOD_TOOL), registered=entered(GOOD_ENTRY)))
    assert asked["tool-description-missing", ()] == 1
    assert asked["tool-description-short", (("minimum", 10),)] == 1
    assert asked["tool-description-short", (("minimum", 20),)] == 1


def test_first_page_and_all_pages_are_different_questions() -> None:
    pages = [{"tools": [GOOD_TOOL]}, {"tools": [{**GOOD_TOOL, "name": "x", "description": None}]}]
    evidence = dossier(listed=listed(tools={"declared": True, "end": "complete", "pages": pages}))
    first = outcome(evidence, "tool-description-missing", Pages.FIRST)
    whole = outcome(evidence, "tool-description-missing", Pages.ALL)
    assert isinstance(first, Measured)
    assert isinstance(whole, Measured)
    assert (first.checked, len(first.findings)) == (1, 0)
    assert (whole.checked, len(whole.findings)) == (2, 1)


def test_absent_evidence_is_not_measured_with_its_reason() -> None:
    evidence = dossier(listed=Absent(Reason.PAYMENT_REQUIRED, "402"))
    assert outcome(evidence, "tool-description-missing") == NotMeasured("payment_required", "402")
    assert outcome(evidence, "remote-not-encrypted") == NotMeasured(
        "not_collected", "no registration record in this run"
    )


def test_nothing_to_check_is_measured_with_a_denominator_of_zero() -> None:
    assert outcome(dossier(listed=listed()), "tool-description-missing") == Measured(0)


def test_unread_rest_of_a_list_is_skipped_and_not_passed() -> None:
    part = {"declared": True, "end": "capped", "pages": [{"tools": [GOOD_TOOL]}]}
    assert outcome(dossier(listed=listed(tools=part)), "tool-description-missing") == Measured(
        1, skipped=(Skipped("tools", "capped"),)
    )


def test_undeclared_list_is_not_read() -> None:
    evidence = listed(GOOD_TOOL, opening={"capabilities": {"prompts": {}}})
    assert outcome(dossier(listed=evidence), "tool-description-missing") == Measured(0)


def test_findings_cite_the_digest_of_the_evidence_they_rest_on() -> None:
    evidence = listed({**GOOD_TOOL, "description": ""})
    found = outcome(dossier(listed=evidence), "tool-description-missing")
    assert isinstance(found, Measured)
    assert [finding.evidence for finding in found.findings] == [evidence.digest]


@pytest.mark.usefixtures("own_plans")
def test_a_rule_that_raises_stops_the_assessment_and_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def judge(tool: Tool, **_: object) -> Iterator[str]:
        raise ZeroDivisionError("a bug")

    broken = {**discover_rules(), "tool-title-missing": replace(discover_rules()["tool-title-missing"], judge=judge)}
    monkeypatch.setattr(engine.rule, "discover_rules", lambda: broken)
    evidence = dossier(listed=listed(GOOD_TOOL))
    with pytest.raises(ZeroDivisionError) as caught:
        assess_dossier(evidence)
    note = "\n".join(caught.value.__notes__)
    assert "tool-title-missing" in note
    assert evidence.server.id in note


def test_asking_what_no_rubric_cites_is_an_error() -> None:
    criterion = Criterion(
        cites="x", rule="tool-description-short", severity=Severity.INFO, params={"minimum": 7}, points=Decimal(1)
    )
    with pytest.raises(LookupError, match="was not asked"):
        assess_dossier(dossier()).outcome(criterion.question)


def test_messages_hide_nothing_and_break_nothing() -> None:
    tool = {**GOOD_TOOL, "name": "evil\u202e\ud800\x1b[2J", "description": ""}
    evidence = Observed(json.dumps(json.loads(listed(tool).body)).encode())
    found = outcome(dossier(listed=evidence), "tool-description-missing")
    assert isinstance(found, Measured)
    assert found.findings[0].at == r"tools/evil\u{202e}\u{d800}\u{1b}[2J"


def test_catalogue_names_versions_and_refuses_unknown_rubrics() -> None:
    assert catalogue.get_rubric("tool_design").name == "tool_design@3"
    assert catalogue.get_rubric("lint").name == "lint@2"
    assert catalogue.get_rubric("lint@1").name == "lint@1"
    assert catalogue.get_rubric("adaptive").default
    with pytest.raises(LookupError, match=r"there are adaptive@1, .*lint@1"):
        catalogue.get_rubric("lint@9")
    assert [rubric.name for rubric in catalogue.list_rubrics() if rubric.default] == ["adaptive@2"]
    names = {f"rubric.{rubric.name}" for rubric in catalogue.list_rubrics()}
    assert {
        "rubric.adaptive@1",
        "rubric.lint@1",
        "rubric.lint@2",
        "rubric.tool_design@1",
        "rubric.tool_design@2",
    } <= names
    assert set(catalogue.pinned_versions()) == {"engine", "ruleset", *names}


def test_every_capture_is_assessed_by_every_rubric() -> None:
    for evidence in captures().values():
        assessment = assess_dossier(evidence)
        cards = [rubric.score(assessment) for rubric in catalogue.list_rubrics()]
        unmeasured = {f"{card.rubric}@{card.version}" for card in cards if not isinstance(card.score, Decimal)}
        assert unmeasured - {"adaptive@2"} == {
            "enterprise@1",
            "enterprise@2",
            "sdk_tier@1",
        }, "a capture holds no registration and no exchanges; a failed list leaves adaptive@2 without a score too"
