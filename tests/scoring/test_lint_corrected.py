"""`lint@2`: each deviation from `lint@1`, and what a failed list does."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from evidence.model import Dossier
from scoring.engine.assess import assess_dossier
from scoring.receipt import decode_scorecard, encode_scorecard, recompute_score
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import Scorecard
from scoring.rubrics.lint import LINT_1
from scoring.rubrics.lint_corrected import LINT_2
from tests.dossiers import captures, cases
from tests.scoring.dossiers import GOOD_TOOL, dossier, listed

FAILED = {"declared": True, "end": "error", "error": {"code": -32603}, "pages": []}

BLANK = {"uri": "a:b", "name": " ", "description": "x", "mimeType": "a/b"}


def judged(evidence: Dossier) -> Scorecard:
    card = LINT_2.score(assess_dossier(evidence, [LINT_2]))
    assert recompute_score(card) == card.score
    assert decode_scorecard(encode_scorecard(card)) == card
    return card


def ids(version: Any, evidence: Dossier) -> list[str]:
    card = version.score(assess_dossier(evidence, [version]))
    return sorted(line.cites for line in card.lines if line.severity)


def with_tool(**members: Any) -> Dossier:
    return dossier(listed=listed({**GOOD_TOOL, **members}))


def with_param(schema: Any) -> Dossier:
    return with_tool(inputSchema={"type": "object", "properties": {"id": schema}, "required": ["id"]})


@pytest.mark.parametrize(
    ("evidence", "first", "second"),
    [
        (
            with_tool(name="renderDiagram", description="Render diagram."),
            ["tool-name-convention", "tool-description-is-name"],
            None,
        ),
        (with_param({"type": "string", "description": 5}), ["prop-no-description"], None),
        (with_param({"const": 1, "description": "Always one."}), [], ["prop-no-type"]),
        (with_tool(inputSchema={"type": "object", "required": ["x"]}), ["required-not-in-properties"], []),
        (with_tool(inputSchema={"type": "object", "properties": {}}), ["tool-empty-schema"], None),
        (with_tool(inputSchema={"type": "object", "additionalProperties": False}), [], ["tool-empty-schema"]),
        (with_tool(name="getRecord"), ["tool-name-convention"], None),
        (dossier(listed=listed(resources=[BLANK])), ["resource-no-name"], None),
    ],
    ids=["is-name", "number", "const", "required", "empty", "closed", "camel", "blank"],
)
def test_each_deviation(evidence: Dossier, first: list[str], second: list[str] | None) -> None:
    only_here = set(ids(LINT_2, evidence)) - set(ids(LINT_1, evidence))
    only_there = set(ids(LINT_1, evidence)) - set(ids(LINT_2, evidence))
    assert only_here == set(first)
    assert only_there == set(second or ())


def test_all_pages_count() -> None:
    pages = [{"tools": [GOOD_TOOL]}, {"tools": [{**GOOD_TOOL, "name": "other", "description": ""}]}]
    card = judged(dossier(listed=listed(tools={"declared": True, "end": "complete", "pages": pages})))
    assert card.score == 85
    assert card.facts["tools"] == "2"


def test_a_failed_list_is_left_out_and_lowers_coverage_and_floor() -> None:
    card = judged(dossier(listed=listed(GOOD_TOOL, resources=FAILED)))
    assert (card.score, card.grade, card.coverage) == (100, "A", Decimal("0.5"))
    assert (card.floor, card.ceiling) == (0, 100)
    assert card.caveats == ("resources could not be listed and are not in the score.",)


def test_failed_tools_beside_an_empty_list_are_not_an_empty_server() -> None:
    card = judged(dossier(listed=listed(tools=FAILED, prompts=[])))
    assert card.score == NotMeasured("list_failed", "tools could not be listed")


def test_nothing_listed_at_all_has_no_score() -> None:
    card = judged(dossier(listed=listed(tools=FAILED, prompts=FAILED)))
    assert card.score == NotMeasured("list_failed", "tools, prompts could not be listed")


def test_grade_f_needs_no_error_of_its_own() -> None:
    evidence = cases()["score-grade-f-no-error"]
    assert "server-grade-f" in ids(LINT_1, evidence)
    assert "server-grade-f" not in ids(LINT_2, evidence)


def test_every_capture_has_a_score() -> None:
    assert all(isinstance(judged(evidence).score, Decimal) for evidence in captures().values())
