"""`tool_design@3`: no deletion of a text or a schema raises a score, tried on every tool of every capture."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import pytest
from msgspec.structs import replace

from evidence.kinds import listing
from evidence.model import Dossier, Observed
from scoring.engine import catalogue
from scoring.engine.assess import assess_dossier
from scoring.receipt import decode_scorecard, encode_scorecard, recompute_score
from scoring.results.scorecard import Scorecard
from scoring.rubrics.tool_design import TOOLS
from scoring.rubrics.tool_design_parts import TOOL_DESIGN_3
from tests.dossiers import captures
from tests.sampling import some
from tests.scoring.dossiers import GOOD_TOOL, dossier, listed

Deed = Callable[[dict[str, Any]], dict[str, Any]]


def judged(evidence: Dossier) -> Scorecard:
    return TOOL_DESIGN_3.score(assess_dossier(evidence, [TOOL_DESIGN_3]))


def score(evidence: Dossier) -> Decimal:
    found = judged(evidence).score
    assert isinstance(found, Decimal)
    return found


def without(*members: str) -> Deed:
    return lambda tool: {name: value for name, value in tool.items() if name not in members}


def undocumented(tool: dict[str, Any]) -> dict[str, Any]:
    """The tool without the descriptions of its parameters."""
    return _with_parameters(tool, lambda schema: {key: part for key, part in schema.items() if key != "description"})


def untyped(tool: dict[str, Any]) -> dict[str, Any]:
    """The tool with nothing in the schemas of its parameters but a description."""
    return _with_parameters(tool, lambda schema: {key: part for key, part in schema.items() if key == "description"})


def _with_parameters(tool: dict[str, Any], change: Callable[[Any], Any]) -> dict[str, Any]:
    schema = tool.get("inputSchema")
    if not isinstance(schema, dict) or not isinstance(schema.get("properties"), dict):
        return tool
    changed = {name: change(part) if isinstance(part, dict) else part for name, part in schema["properties"].items()}
    return {**tool, "inputSchema": {**schema, "properties": changed}}


DELETIONS: dict[str, Deed] = {
    "description": without("description"),
    "description emptied": lambda tool: {**tool, "description": " "},
    "parameter descriptions": undocumented,
    "parameter schemas": untyped,
    "schema": without("inputSchema"),
    "schema emptied": lambda tool: {**tool, "inputSchema": {}},
    "schema of an object only": lambda tool: {**tool, "inputSchema": {"type": "object"}},
    "output schema": without("outputSchema"),
    "description and schema": without("description", "inputSchema"),
    "both emptied": lambda tool: {**tool, "description": "", "inputSchema": {}},
    "everything but the name": lambda tool: {"name": tool.get("name")},
}


def deleted(evidence: Dossier, deletion: Deed, only: int | None = None) -> Dossier:
    """The dossier with the deletion made in all tools, or in one of them."""
    record = evidence.records[listing.KIND]
    assert isinstance(record.content, Observed)
    body = json.loads(record.content.body)
    index = 0
    for page in body["lists"]["tools"]["pages"]:
        for place, tool in enumerate(page["tools"]):
            if only in {None, index}:
                page["tools"][place] = deletion(tool)
            index += 1
    changed = replace(record, content=Observed(json.dumps(body).encode()))
    return replace(evidence, records={**evidence.records, listing.KIND: changed})


def tool_scores(evidence: Dossier) -> list[int]:
    return [tool["score"] for tool in json.loads(judged(evidence).facts[TOOLS])]


def one_parameter_deletions(evidence: Dossier) -> Iterator[tuple[int, Deed]]:
    """For every parameter of every tool: without its description, and without its schema."""
    for index, tool in enumerate(_tools(evidence)):
        for name in tool.get("inputSchema", {}).get("properties", {}):
            for keep in ((), ("description",)):
                yield index, lambda tool, name=name, keep=keep: _reduced(tool, name, keep)  # type: ignore[misc]


def _tools(evidence: Dossier) -> list[dict[str, Any]]:
    content = evidence.records[listing.KIND].content
    assert isinstance(content, Observed)
    return [tool for page in json.loads(content.body)["lists"]["tools"]["pages"] for tool in page["tools"]]


def _reduced(tool: dict[str, Any], name: str, keep: tuple[str, ...]) -> dict[str, Any]:
    """The tool with one parameter without description, or with nothing but its description."""
    schema = tool["inputSchema"]
    part = schema["properties"][name]
    less = {key: value for key, value in part.items() if (key in keep if keep else key != "description")}
    return {**tool, "inputSchema": {**schema, "properties": {**schema["properties"], name: less}}}


@pytest.mark.parametrize("way", DELETIONS)
@pytest.mark.parametrize("name", some(captures(), 3))
def test_a_deletion_in_all_tools_never_raises_the_score_of_the_server_or_of_a_tool(name: str, way: str) -> None:
    before, after = captures()[name], deleted(captures()[name], DELETIONS[way])
    assert score(after) <= score(before)
    assert all(now <= then for now, then in zip(tool_scores(after), tool_scores(before), strict=True))


@pytest.mark.parametrize("name", some(captures(), 3))
def test_a_deletion_in_one_tool_never_raises_any_tool(name: str) -> None:
    before = tool_scores(captures()[name])
    for way, deletion in DELETIONS.items():
        for index in {before.index(max(before)), before.index(min(before))}:
            after = tool_scores(deleted(captures()[name], deletion, only=index))
            assert all(now <= then for now, then in zip(after, before, strict=True)), (way, index)


@pytest.mark.parametrize("name", some(["mcp-server-git", "mcp-server-fetch", "blender-mcp"], 1))
def test_a_deletion_in_one_parameter_never_raises_the_score(name: str) -> None:
    before = tool_scores(captures()[name])
    for index, deletion in one_parameter_deletions(captures()[name]):
        after = tool_scores(deleted(captures()[name], deletion, only=index))
        assert after[index] <= before[index]


@pytest.mark.parametrize("way", ["description", "schema", "schema emptied", "both emptied", "everything but the name"])
@pytest.mark.parametrize("name", some(captures(), 6))
def test_a_tool_without_description_or_schema_is_at_most_40(name: str, way: str) -> None:
    assert max(tool_scores(deleted(captures()[name], DELETIONS[way]))) <= 40


def test_a_parameter_without_a_type_leaves_its_tool_without_schema() -> None:
    (found,) = tool_scores(dossier(listed=listed(untyped(GOOD_TOOL))))
    assert found <= 40


def test_a_tool_that_takes_nothing_and_says_so_keeps_its_points() -> None:
    closed = {**GOOD_TOOL, "inputSchema": {"type": "object", "additionalProperties": False}}
    named = {**GOOD_TOOL, "inputSchema": {"type": "object", "properties": {}}}
    assert min(tool_scores(dossier(listed=listed(closed, named)))) > 70


@pytest.mark.parametrize("way", DELETIONS)
def test_the_receipt_adds_up(way: str) -> None:
    card = judged(deleted(captures()["blender-mcp"], DELETIONS[way]))
    assert recompute_score(card) == card.score
    assert decode_scorecard(encode_scorecard(card)) == card


def test_it_is_the_newest_version_and_names_each_deviation() -> None:
    assert catalogue.get_rubric("tool_design") is TOOL_DESIGN_3
    assert len(TOOL_DESIGN_3.settled) == 6
