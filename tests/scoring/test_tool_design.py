"""`tool_design@1` equals the published implementation, whose figures are in tests/golden/tool_design.json."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from evidence.model import Absent, Dossier, Reason
from scoring.engine.assess import assess_dossier
from scoring.receipt import decode_scorecard, encode_scorecard, recompute_score
from scoring.results.outcome import Measured, NotMeasured
from scoring.results.scorecard import Scorecard
from scoring.rubrics.tool_design import POINTS, TOOL_DESIGN_1, TOOLS
from scoring.rubrics.tool_design_corrected import TOOL_DESIGN_2
from tests.dossiers import captures, cases
from tests.scoring.dossiers import GOOD_TOOL, dossier, listed

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "tool_design.json").read_text(encoding="utf-8"))
THROWN = {"prop-null": 91}
"""Cases on which the reference fails, with the score that they have here."""


def judged(evidence: Dossier) -> Scorecard:
    return TOOL_DESIGN_1.score(assess_dossier(evidence, [TOOL_DESIGN_1]))


def counts(evidence: Dossier) -> list[dict[str, int]]:
    """How often each published id was found on each tool."""
    assessment = assess_dossier(evidence, [TOOL_DESIGN_1])
    pages = TOOL_DESIGN_1.criteria[0].pages
    found: dict[tuple[int, ...], Counter[str]] = {tool.position: Counter() for tool in assessment.walks[pages].tools}
    for criterion in TOOL_DESIGN_1.criteria:
        outcome = assessment.outcome(criterion.question)
        assert isinstance(outcome, Measured)
        for finding in outcome.findings:
            found[finding.position[:1]][criterion.cites] += 1
    return [dict(about) for about in found.values()]


def everything() -> Iterator[tuple[str, str]]:
    yield from (("captures", name) for name in GOLDEN["captures"])
    yield from (("cases", name) for name in GOLDEN["cases"])


@pytest.mark.parametrize(("part", "name"), list(everything()))
def test_equals_the_reference(part: str, name: str) -> None:
    evidence = (captures() if part == "captures" else cases())[name]
    card, expected = judged(evidence), GOLDEN[part][name]
    if "error" in expected:
        assert card.score == THROWN[name]
        return
    assert (card.score, card.grade) == (expected["score"], expected["level"])
    assert [tool["score"] for tool in json.loads(card.facts[TOOLS])] == [score for score, _ in expected["tools"]]
    assert counts(evidence) == [rules for _, rules in expected["tools"]]
    assert recompute_score(card) == card.score
    assert decode_scorecard(encode_scorecard(card)) == card


def test_all_captures_and_cases_are_compared() -> None:
    assert (len(GOLDEN["captures"]), len(GOLDEN["cases"])) == (20, 209)
    assert set(captures()) == set(GOLDEN["captures"])
    assert set(cases()) == set(GOLDEN["cases"])


def test_all_46_rules_are_there_and_each_fires_in_the_golden_figures() -> None:
    cited = {criterion.cites for criterion in TOOL_DESIGN_1.criteria}
    fired = {
        rule
        for part in ("captures", "cases")
        for row in GOLDEN[part].values()
        for _, rules in row.get("tools", ())
        for rule in rules
    }
    assert len(cited) == 46
    assert fired == cited


@pytest.mark.parametrize("reason", [Reason.OAUTH_REQUIRED, Reason.UNREACHABLE])
def test_locked_server_is_not_zero(reason: Reason) -> None:
    card = judged(dossier(listed=Absent(reason, "seen")))
    assert card.score == NotMeasured(reason.value, "seen")
    assert (card.grade, card.lines, card.coverage) == (None, (), 0)


def test_empty_list_is_exemplary_as_published() -> None:
    card = judged(dossier(listed=listed()))
    assert (card.score, card.grade, json.loads(card.facts[TOOLS])) == (100, "exemplary", [])


@pytest.mark.parametrize("end", ["error", "failed"])
def test_list_that_failed_counts_as_empty_in_version_1_only(end: str) -> None:
    failed = {"declared": True, "end": end, "error": {"code": -32603}, "pages": []}
    evidence = dossier(listed=listed(tools=failed))
    card = judged(evidence)
    assert (card.score, card.grade) == (100, "exemplary")
    assert card.caveats == (f"tools could not be listed ({end}); this version counts the list as empty.",)
    corrected = TOOL_DESIGN_2.score(assess_dossier(evidence, [TOOL_DESIGN_2]))
    assert corrected.score == NotMeasured("list_failed", f"tools: {end}")


@pytest.mark.parametrize(
    ("description", "fires"), [(" ", True), ("\ufeff\t", True), ("", False), (5, False), (None, False), ([], False)]
)
def test_llm_007_fires_on_white_space_in_version_1_only(description: Any, fires: bool) -> None:
    schema = {"type": "object", "properties": {"id": {"type": "string", "description": description}}}
    evidence = dossier(listed=listed({**GOOD_TOOL, "inputSchema": schema}))
    assert ("LLM-007" in counts(evidence)[0]) is fires
    corrected = TOOL_DESIGN_2.score(assess_dossier(evidence, [TOOL_DESIGN_2]))
    assert "LLM-007" not in {line.cites for line in corrected.lines}


def test_list_that_broke_off_is_scored_with_a_caveat() -> None:
    part = {"declared": True, "end": "failed", "error": "timeout", "pages": [{"tools": [GOOD_TOOL]}]}
    card = judged(dossier(listed=listed(tools=part)))
    assert isinstance(card.score, Decimal)
    assert card.caveats == ("tools could not be listed to the end (failed); the rest is not in the score.",)


def test_a_tool_is_at_least_zero_and_the_receipt_says_so() -> None:
    properties = {f"p{index}": {"type": "string"} for index in range(50)}
    bad = {**GOOD_TOOL, "inputSchema": {"type": "object", "properties": properties}}
    card = judged(dossier(listed=listed(bad, GOOD_TOOL, GOOD_TOOL)))
    assert json.loads(card.facts[TOOLS])[0]["score"] == 0
    assert [line.at for line in card.lines if line.cites == "floor"] == ["tools/get-record@0"]
    assert sum((line.points for line in card.lines), Decimal(100)) == card.score == recompute_score(card)


def test_halves_are_rounded_up() -> None:
    assert judged(cases()["avg-round-half"]).score == 89


def test_receipt_of_a_hostile_server_is_bounded_and_keeps_its_points() -> None:
    properties: dict[str, Any] = {f"p{index}": {"type": "string"} for index in range(5000)}
    card = judged(dossier(listed=listed({**GOOD_TOOL, "inputSchema": {"type": "object", "properties": properties}})))
    assert len(card.lines) < 1000
    assert card.facts["errors"] == "10000"
    assert recompute_score(card) == card.score == 0


def test_points_are_the_published_ones() -> None:
    assert {severity.value: int(points) for severity, points in POINTS.items()} == {
        "error": 5,
        "warning": 2,
        "suggestion": 1,
    }
