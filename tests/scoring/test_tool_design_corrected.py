"""`tool_design@2`: what it reads otherwise, how many captured tools that moves, and what a large server costs."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

import pytest

from scoring.engine import catalogue
from scoring.engine.assess import assess_dossier
from scoring.rubrics.tool_design import TOOLS
from scoring.rubrics.tool_design_corrected import TOOL_DESIGN_2
from tests.durations import grows_less_than
from tests.scoring.dossiers import GOOD_TOOL, dossier, listed


def cited(*tools: Any) -> set[str]:
    card = TOOL_DESIGN_2.score(assess_dossier(dossier(listed=listed(*tools)), [TOOL_DESIGN_2]))
    return {line.cites for line in card.lines if line.rule}


def taking(**properties: Any) -> dict[str, Any]:
    return {**GOOD_TOOL, "inputSchema": {"type": "object", "properties": properties, "required": list(properties)}}


def test_all_46_rules_are_cited_and_every_deviation_names_one_or_the_scope() -> None:
    ids = {criterion.cites for criterion in TOOL_DESIGN_2.criteria}
    assert len(ids) == 46
    assert len(TOOL_DESIGN_2.settled) > 20
    assert all(any(rule in text for rule in ids) or text.startswith("Only tools") for text in TOOL_DESIGN_2.settled)


def test_a_missing_description_is_charged_once() -> None:
    card = TOOL_DESIGN_2.score(
        assess_dossier(dossier(listed=listed({**GOOD_TOOL, "description": ""})), [TOOL_DESIGN_2])
    )
    points = {line.cites: line.points for line in card.lines if line.cites in {"SCH-002", "LLM-001"}}
    assert points == {"SCH-002": Decimal(-5), "LLM-001": Decimal(0)}


@pytest.mark.parametrize("name", ["getUser", "get_user", "get-user.v2", "Get2"])
def test_names_of_the_protocol_pass(name: str) -> None:
    assert "NAM-002" not in cited({**GOOD_TOOL, "name": name})


def test_newer_dialects_pass_and_draft_07_only_where_declared() -> None:
    newer = {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}
    older = {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "prefixItems": 5}
    assert "SCH-004" not in cited({**GOOD_TOOL, "inputSchema": newer}, {**GOOD_TOOL, "inputSchema": older})
    assert "SCH-004" in cited({**GOOD_TOOL, "inputSchema": {"type": "object", "prefixItems": 5}})


@pytest.mark.parametrize(
    "schema",
    [
        {"type": ["string", "null"]},
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        {"type": "object", "properties": {"inner": {"type": "string"}}},
        {"type": "array", "maxItems": 3, "items": {"type": "string"}},
        {"$ref": "#/$defs/word"},
    ],
)
def test_unions_and_nested_parameters_are_looked_into(schema: dict[str, Any]) -> None:
    tool = taking(user=schema)
    tool["inputSchema"]["$defs"] = {"word": {"type": "string"}}
    assert "SEC-001" in cited(tool)


def test_a_bound_beside_a_union_or_a_reference_counts() -> None:
    bounded = {"anyOf": [{"type": "string"}, {"type": "null"}], "maxLength": 9}
    limited = {"type": "string", "allOf": [{"maxLength": 9}]}
    assert "SEC-001" not in cited(taking(user=bounded, other=limited))


def test_one_finding_a_place_however_many_branches() -> None:
    card = TOOL_DESIGN_2.score(
        assess_dossier(dossier(listed=listed(taking(apiKey={"anyOf": [{"type": "string"}] * 9}))), [TOOL_DESIGN_2])
    )
    assert [line.cites for line in card.lines].count("SEC-007") == 1


@pytest.mark.parametrize("name", ["profile", "direction", "security", "curly", "author", "secretary", "maxTokens"])
def test_words_inside_words_do_not_count(name: str) -> None:
    found = cited(taking(**{name: {"type": "string", "maxLength": 9, "description": "Name of the person."}}))
    assert not found & {"SEC-004", "SEC-005", "SEC-007"}


def test_an_abbreviation_needs_its_own_meaning() -> None:
    def described(text: str) -> set[str]:
        return cited(taking(repo={"type": "string", "maxLength": 9, "description": text}))

    assert "LLM-010" in described("Used by the user who asks.")
    assert "LLM-010" not in described("Full name of the repository.")


def circle() -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {"$ref": "#/$defs/n"}}}
    schema["$defs"] = {"n": {"type": "object", "properties": {"next": {"$ref": "#/$defs/n"}, "root": {"$ref": "#"}}}}
    return schema


def test_references_in_a_circle_end() -> None:
    assert "SEC-009" in cited({**GOOD_TOOL, "inputSchema": circle()})


def wide(count: int) -> Any:
    return [taking(**{f"p{index}": {"type": "string"} for index in range(count)})]


def many(count: int) -> Any:
    return [
        {**GOOD_TOOL, "name": f"get-thing-{index}", "description": f"Reads thing number {index}."}
        for index in range(count)
    ]


def shared(count: int) -> Any:
    tool = taking(**{f"p{index}": {"$ref": "#/$defs/n"} for index in range(count)})
    tool["inputSchema"]["$defs"] = {"n": {"anyOf": [{"type": "string"}] * count}}
    return [tool]


@pytest.mark.parametrize(("shape", "count"), [(wide, 800), (many, 200), (shared, 400)])
def test_cost_grows_in_proportion(shape: Any, count: int) -> None:
    """Four times the size may cost eight times the work, and not sixteen as with a quadratic rule."""

    rubrics = [rubric for rubric in catalogue.list_rubrics() if rubric.id == "tool_design"]
    small, large = (dossier(listed=listed(*shape(size))) for size in (count, count * 4))
    assert grows_less_than(
        10, lambda: assess_dossier(small, rubrics), lambda: assess_dossier(large, rubrics), floor=0.002
    )


def test_two_thousand_tools_have_a_score() -> None:
    card = TOOL_DESIGN_2.score(assess_dossier(dossier(listed=listed(*many(2000))), [TOOL_DESIGN_2]))
    assert len(json.loads(card.facts[TOOLS])) == 2000
    assert len(card.lines) < 46 * 310
