"""No shape of evidence about projects, packages and files breaks scoring."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evidence.model import Dossier, Observed
from scoring.engine import catalogue
from scoring.engine.assess import assess_dossier
from scoring.receipt import decode_scorecard, encode_scorecard, recompute_score
from scoring.results.outcome import NotMeasured
from tests.sampling import examples
from tests.scoring.rich import KINDS, abandoned, adding, changed, sourced, well_kept

TEXTS = [
    "",
    "2026-13-40",
    "0001-01-01T00:00:00+23:59",
    "9999-12-31T23:59:59-23:59",
    "\ud800",
    "@/x",
    "https://[",
    "io.github./",
]
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.just(10**999),
    st.sampled_from(TEXTS),
    st.text(max_size=9),
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
RUBRICS = [catalogue.get_rubric("adaptive@1"), catalogue.get_rubric("enterprise@1")]
BODIES = {
    kind: dict(json.loads(content.body)) for kind in KINDS if isinstance(content := abandoned().read(kind), Observed)
}
MEMBERS = [(kind, member) for kind, body in BODIES.items() for member in body]


def judge(evidence: Dossier) -> None:
    assessment = assess_dossier(evidence, RUBRICS)
    for rubric in RUBRICS:
        card = rubric.score(assessment)
        assert recompute_score(card) == card.score
        assert decode_scorecard(encode_scorecard(card)) == card
        assert isinstance(card.score, NotMeasured) or 0 <= card.score <= 100
        assert card.floor <= card.ceiling


@settings(derandomize=True, max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(sorted(KINDS)), JSON)
def test_no_body_breaks_scoring(kind: str, body: Any) -> None:
    judge(adding(well_kept(), {kind: body}))


@settings(derandomize=True, max_examples=examples(70), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(MEMBERS), JSON)
def test_no_member_breaks_scoring(place: tuple[str, str], value: Any) -> None:
    kind, member = place
    judge(changed(abandoned(), kind, **{member: value}))


@settings(derandomize=True, max_examples=examples(70), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(MEMBERS), st.randoms(use_true_random=False), JSON)
def test_no_member_of_a_member_breaks_scoring(place: tuple[str, str], random: Any, value: Any) -> None:
    kind, member = place
    judge(changed(abandoned(), kind, **{member: _with_one_replaced(BODIES[kind][member], random, value)}))


def _with_one_replaced(whole: Any, random: Any, value: Any) -> Any:
    if isinstance(whole, dict) and whole:
        chosen = random.choice(sorted(whole))
        return {**whole, chosen: _with_one_replaced(whole[chosen], random, value)}
    if isinstance(whole, list) and whole:
        return [_with_one_replaced(whole[0], random, value), *whole[1:]]
    return value


@pytest.mark.parametrize(
    "tool",
    [
        {"name": "x" * 100_000, "description": "y" * 100_000, "input": {"type": "object"}},
        {"name": "x", "description": "y", "input": {"properties": {f"p{index}": {} for index in range(3000)}}},
        {"name": "x", "description": "y", "input": {"properties": ["a", None]}, "annotations": [1]},
    ],
    ids=["long", "wide", "types"],
)
def test_hostile_tools_of_a_source_are_judged(tool: dict[str, Any]) -> None:
    evidence = sourced()
    judge(changed(evidence, "source", tools=[tool, tool]))


def test_many_findings_share_a_line() -> None:
    flaws = [{**BODIES["advisories"]["groups"][0], "ids": [f"GHSA-{index}"]} for index in range(2000)]
    leaks = [{**BODIES["secrets"]["findings"][0], "hash": str(index)} for index in range(2000)]
    evidence = changed(changed(abandoned(), "advisories", groups=flaws), "secrets", findings=leaks)
    judge(evidence)
    assert len(encode_scorecard(RUBRICS[0].score(assess_dossier(evidence, RUBRICS)))) < 200_000
