"""`adaptive@1`: the published arithmetic, and what absence does to a score."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from evidence.model import Absent, Dossier, Observed, Reason
from scoring.engine.assess import assess_dossier
from scoring.results import weighting
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import ComponentScore, DimensionScore, Scorecard
from scoring.rubrics.adaptive import ADAPTIVE_1, DIMENSIONS, THIN
from tests.dossiers import captures
from tests.golden import adaptive as golden
from tests.scoring.dossiers import GOOD_ENTRY, GOOD_TOOL, dossier, entered, listed

VECTORS = json.loads((Path(__file__).parents[1] / "golden" / "adaptive-weights.json").read_text(encoding="utf-8"))
GOLDEN = golden.committed()
UNTESTABLE = [Reason.OAUTH_REQUIRED, Reason.SANDBOX_RESTRICTED, Reason.TRANSPORT_UNSUPPORTED, Reason.UNREACHABLE]


def adaptive(evidence: Dossier) -> Scorecard:
    return ADAPTIVE_1.score(assess_dossier(evidence, [ADAPTIVE_1]))


def part(card: Scorecard, name: str) -> DimensionScore:
    return next(dimension for dimension in card.dimensions if dimension.name == name)


def component(card: Scorecard, name: str, inner: str) -> ComponentScore:
    return next(found for found in part(card, name).components if found.name == inner)


@pytest.mark.parametrize("vector", VECTORS["vectors"], ids=lambda vector: "-".join(vector["measured"]) or "nothing")
def test_weights_and_overall_equal_the_published_formula(vector: dict[str, Any]) -> None:
    dimensions = weighting.with_effective_weights(
        [
            DimensionScore(
                name=name,
                base_weight=Decimal(weight),
                effective_weight=Decimal(0),
                result=Decimal(vector["dimension_0_10"][name]) if name in vector["measured"] else NotMeasured("x"),
                status="measured",
            )
            for name, weight in VECTORS["base_weights"].items()
        ]
    )
    weights = {found.name: round(float(found.effective_weight), 6) for found in dimensions if found.effective_weight}
    assert weights == {name: weight for name, weight in vector["effective_weight"].items() if weight}
    assert weighting.compute_overall(dimensions) == vector["overall_0_100"]


def test_base_weights_are_the_published_ones() -> None:
    assert {found.name: int(found.weight) for found in DIMENSIONS} == VECTORS["base_weights"]
    assert ADAPTIVE_1.source_version == "2.1"


def test_nothing_measured_is_no_score_and_never_zero() -> None:
    card = adaptive(dossier())
    assert isinstance(card.score, NotMeasured)
    assert card.coverage == 0
    assert {found.status for found in card.dimensions} == {"not_testable"}
    assert {found.effective_weight for found in card.dimensions} == {Decimal(0)}


@pytest.mark.parametrize("reason", UNTESTABLE)
def test_locked_server_is_not_zero_and_says_why(reason: Reason) -> None:
    card = adaptive(dossier(listed=Absent(reason, "seen"), registered=entered(GOOD_ENTRY)))
    reliability = part(card, "reliability")
    assert reliability.status == "not_testable"
    assert reliability.result == NotMeasured(reason.value, "seen")
    assert reliability.effective_weight == 0
    assert card.score == 100
    assert any(f"reliability could not be tested ({reason.value})" in caveat for caveat in card.caveats)


@pytest.mark.parametrize("reason", [Reason.COLLECTOR_ERROR, Reason.COLLECTOR_OFFLINE, Reason.QUARANTINED])
def test_a_server_that_we_failed_to_ask_has_no_score_rather_than_another(reason: Reason) -> None:
    card = adaptive(dossier(listed=Absent(reason, "ours"), registered=entered(GOOD_ENTRY)))
    assert isinstance(card.score, NotMeasured)
    assert {part.result for part in card.dimensions} == {NotMeasured(reason.value, "ours")}


def test_registration_alone_is_marked_as_thin_evidence() -> None:
    card = adaptive(dossier(listed=Absent(Reason.OAUTH_REQUIRED), registered=entered(GOOD_ENTRY)))
    assert card.coverage < THIN
    assert card.facts["evidence"] == "thin"
    assert card.caveats[0].startswith("Thin evidence")


def test_reached_without_calling_a_tool_is_partial() -> None:
    card = adaptive(dossier(listed=listed(GOOD_TOOL), registered=entered(GOOD_ENTRY)))
    assert part(card, "reliability").status == "partial"
    assert component(card, "reliability", "error_handling").result == NotMeasured(
        "not_collected", "no trials record in this run"
    )
    assert any(caveat.startswith("reliability is partial") for caveat in card.caveats)
    assert card.facts["evidence"] == "sufficient"


def test_exemplary_server_has_no_deductions() -> None:
    opening = {"capabilities": {"tools": {}, "prompts": {}}}
    card = adaptive(dossier(listed=listed(GOOD_TOOL, opening=opening), registered=entered(GOOD_ENTRY)))
    assert card.score == 100
    assert [line for found in card.dimensions for inner in found.components for line in inner.lines] == []


def test_measured_zero_stays_in() -> None:
    bad = {"name": "x", "description": "", "inputSchema": {"type": "objekt"}}
    card = adaptive(dossier(listed=listed(bad)))
    assert component(card, "reliability", "schema_validity").result == 0
    assert component(card, "documentation", "descriptions").result == 0
    assert part(card, "reliability").result == 5
    assert part(card, "documentation").effective_weight > 0


def test_server_without_parameters_is_not_judged_on_them() -> None:
    tool = {**GOOD_TOOL, "inputSchema": {"type": "object", "properties": {}}}
    card = adaptive(dossier(listed=listed(tool)))
    assert component(card, "documentation", "schemas").result == NotMeasured(
        "nothing_to_check", "the server has nothing that this check examines"
    )


def test_tool_with_two_findings_of_one_check_is_charged_once() -> None:
    poor = {"name": "search", "description": "search", "inputSchema": {"type": "object", "properties": {}}}
    card = adaptive(dossier(listed=listed(poor, GOOD_TOOL)))
    descriptions = component(card, "documentation", "descriptions")
    assert [(line.rule, line.points) for line in descriptions.lines] == [
        ("tool-description-short", Decimal(-5)),
        ("tool-description-repeats-name", Decimal(0)),
    ]
    assert descriptions.result == 5


def test_many_findings_share_a_line_and_keep_their_points() -> None:
    properties = {f"p{index}": {"type": "string"} for index in range(5000)}
    tool = {**GOOD_TOOL, "inputSchema": {"type": "object", "properties": properties}}
    schemas = component(adaptive(dossier(listed=listed(tool))), "documentation", "schemas")
    assert len(schemas.lines) == 101
    assert schemas.lines[-1].why == "4900 more findings"
    assert sum(line.points for line in schemas.lines) == -5


def test_list_that_failed_is_not_measured_rather_than_empty() -> None:
    failed = {"declared": True, "end": "failed", "error": "timeout", "pages": []}
    evidence = listed(opening={"capabilities": {"tools": {}}})
    card = adaptive(dossier(listed=_with_tools(evidence.body, failed)))
    assert component(card, "documentation", "descriptions").result == NotMeasured("list_failed", "tools: failed")
    assert any("tools could not be listed to the end" in caveat for caveat in card.caveats)


def test_settings_that_announce_a_secret_must_be_marked() -> None:
    entry = json.loads(json.dumps(GOOD_ENTRY))
    entry["packages"][0]["environmentVariables"][0]["isSecret"] = False
    card = adaptive(dossier(registered=entered(entry)))
    assert component(card, "security", "authentication").result == 5


@pytest.mark.parametrize("found", DIMENSIONS, ids=lambda found: found.name)
def test_criteria_of_a_check_judge_the_same_scope(found: Any) -> None:
    for inner in found.components:
        assert inner.checks
        for check in inner.checks:
            assert len({criterion.declared.scope for criterion in check.criteria}) == 1


def test_contributions_sum_to_the_score() -> None:
    for evidence in captures().values():
        card = adaptive(evidence)
        assert sum(line.points for line in card.lines) == card.score
        measured = [found for found in card.dimensions if isinstance(found.result, Decimal)]
        assert sum(found.effective_weight for found in measured) == 1


def test_the_same_evidence_gives_the_same_card() -> None:
    for evidence in captures().values():
        assert adaptive(evidence) == adaptive(replace(evidence))


def _with_tools(body: bytes, part: dict[str, Any]) -> Observed:
    value = json.loads(body)
    value["lists"]["tools"] = part
    return Observed(json.dumps(value).encode())


@pytest.mark.parametrize("name", captures())
def test_captured_servers_keep_their_scorecards(name: str) -> None:
    assert golden.current()[name] == GOLDEN[name], (
        "if meant: `python -m tests.golden.adaptive --write`, and review the diff"
    )
