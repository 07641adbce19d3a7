"""Properties of scores: order does not matter, a finding never helps, and no shape of evidence breaks anything."""

from __future__ import annotations

import json
from decimal import Decimal
from functools import cache
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from evidence.model import Dossier, Observed
from scoring.engine import catalogue
from scoring.engine.assess import assess_dossier
from scoring.engine.assessment import Assessment
from scoring.receipt import decode_scorecard, encode_scorecard, recompute_score
from scoring.results.outcome import Finding, Measured, NotMeasured
from tests.dossiers import captures
from tests.sampling import examples
from tests.scoring.dossiers import GOOD_ENTRY, GOOD_TOOL, dossier, entered, listed

CAPTURES = sorted(captures())
QUESTIONS = catalogue.list_questions()

SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(max_size=20),
    st.sampled_from(["", " ", "\ud800", "\u202e", "object", "string", "a/b@1~", "-32601", "https://x/{y}?token=1"]),
)
KEYS = st.one_of(
    st.text(max_size=8),
    st.sampled_from(
        [
            "name",
            "description",
            "inputSchema",
            "outputSchema",
            "properties",
            "required",
            "type",
            "items",
            "$schema",
            "$ref",
            "anyOf",
            "enum",
            "annotations",
            "title",
            "uri",
            "mimeType",
            "arguments",
            "packages",
            "remotes",
            "url",
            "environmentVariables",
            "headers",
            "isSecret",
            "transport",
            "version",
        ]
    ),
)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5), max_leaves=20
)


def scores(evidence: Dossier) -> list[Decimal | NotMeasured]:
    assessment = assess_dossier(evidence)
    cards = [rubric.score(assessment) for rubric in catalogue.list_rubrics()]
    for card in cards:
        assert recompute_score(card) == card.score
        assert decode_scorecard(encode_scorecard(card)) == card
        assert isinstance(card.score, NotMeasured) or 0 <= card.score <= 100
    return [card.score for card in cards]


@cache
def scores_of(name: str) -> list[Decimal | NotMeasured]:
    return scores(captures()[name])


def permuted(evidence: Dossier, permutation: Any) -> Dossier:
    content = evidence.read("listing")
    assert isinstance(content, Observed)
    body = json.loads(content.body)
    for page in body["lists"]["tools"]["pages"]:
        page["tools"] = permutation(page["tools"])
    record = replace(evidence.records["listing"], content=Observed(json.dumps(body).encode()))
    return replace(evidence, records={"listing": record})


@settings(derandomize=True, max_examples=10, deadline=None)
@given(st.sampled_from(CAPTURES), st.randoms(use_true_random=False))
def test_order_of_tools_does_not_matter(name: str, random: Any) -> None:
    assert scores(permuted(captures()[name], lambda tools: random.sample(tools, len(tools)))) == scores_of(name)


@settings(derandomize=True, max_examples=examples(60), deadline=None)
@given(st.sampled_from(CAPTURES), st.sampled_from(QUESTIONS), st.integers(0, 10**6))
def test_another_finding_never_raises_a_score(name: str, question: Any, seed: int) -> None:
    assessment = assess_dossier(replace_registration(captures()[name]))
    outcome = assessment.outcome(question)
    if not isinstance(outcome, Measured) or not outcome.checked:
        return
    things = assessment.walks[question.pages].list_things(catalogue.get_rule(question.rule).scope)
    thing = things[seed % len(things)]
    finding = Finding(question.rule, thing.at, "made up", "", thing.position)
    worse = replace(outcome, findings=(*outcome.findings, finding))
    after = replace(assessment, outcomes={**assessment.outcomes, question: worse})
    for before_score, after_score in zip(all_scores(assessment), all_scores(after), strict=True):
        assert after_score <= before_score


def replace_registration(evidence: Dossier) -> Dossier:
    registered = dossier(registered=entered(GOOD_ENTRY)).records
    return replace(evidence, records={**evidence.records, **registered})


def all_scores(assessment: Assessment) -> list[Decimal]:
    found = [rubric.score(assessment).score for rubric in catalogue.list_rubrics()]
    return [score for score in found if isinstance(score, Decimal)]


@settings(derandomize=True, max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(JSON, max_size=3), st.lists(JSON, max_size=2), st.lists(JSON, max_size=2), JSON)
def test_no_listing_breaks_scoring(tools: list[Any], resources: list[Any], prompts: list[Any], info: Any) -> None:
    opening = {"serverInfo": info, "protocolVersion": info, "instructions": info}
    scores(dossier(listed=listed(*tools, resources=resources, prompts=prompts, opening=opening)))


@settings(derandomize=True, max_examples=examples(50), deadline=None)
@given(KEYS, JSON, JSON)
def test_no_tool_member_breaks_scoring(member: str, value: Any, schema: Any) -> None:
    scores(dossier(listed=listed({**GOOD_TOOL, member: value}, {**GOOD_TOOL, "inputSchema": schema})))


@settings(derandomize=True, max_examples=examples(50), deadline=None)
@given(KEYS, JSON, JSON)
def test_no_registry_entry_breaks_scoring(member: str, value: Any, entry: Any) -> None:
    scores(dossier(registered=entered({**GOOD_ENTRY, member: value}, entry)))


@settings(derandomize=True, max_examples=examples(60), deadline=None)
@given(JSON)
def test_no_body_breaks_scoring(body: Any) -> None:
    content = Observed(json.dumps(body).encode())
    scores(dossier(listed=content, registered=content))
    wrapped = Observed(json.dumps({"opening": body, "lists": {"tools": body, "prompts": {"pages": body}}}).encode())
    scores(dossier(listed=wrapped, registered=Observed(json.dumps({"refs": body}).encode())))


def nested(depth: int) -> Any:
    schema: Any = {"type": "string"}
    for _ in range(depth // 2):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


@pytest.mark.parametrize(
    "tool",
    [
        {**GOOD_TOOL, "inputSchema": {"type": "object", "properties": {f"p{i}": {} for i in range(5000)}}},
        {**GOOD_TOOL, "inputSchema": nested(200)},
        {**GOOD_TOOL, "inputSchema": {"allOf": [{"type": "string"}] * 60_000}},
        {**GOOD_TOOL, "inputSchema": {"minimum": 10**400, "maximum": -(10**30)}},
        {**GOOD_TOOL, "inputSchema": {"properties": {"\ud800": None, "a": True, "b": False, "c": []}}},
        {**GOOD_TOOL, "inputSchema": {"type": "object", "properties": ["a", None], "required": [None, 1, {}]}},
        {**GOOD_TOOL, "name": "n" * 1_000_000, "description": "\U0001f600" * 100_000},
        {**GOOD_TOOL, "name": ["get"], "title": 7, "annotations": [1]},
    ],
    ids=["5000-properties", "depth-200", "60000-branches", "huge-numbers", "odd-properties", "lists", "long", "types"],
)
def test_hostile_shapes_never_crash(tool: Any) -> None:
    evidence = dossier(listed=listed(tool, tool), registered=entered(GOOD_ENTRY))
    unmeasured = sum(isinstance(score, NotMeasured) for score in scores(evidence))
    assert unmeasured == 1, "all but sdk_tier, whose evidence is not there"


def test_infinite_number_in_a_schema_is_judged() -> None:
    body = listed({**GOOD_TOOL, "inputSchema": {"minimum": 99}}).body.replace(b"99", b"1e400")
    scores(dossier(listed=Observed(body)))
