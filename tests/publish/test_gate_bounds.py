"""The gate and the badges over made-up results: what is hidden counts as 0, whatever weight it hands to the rest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import cache

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from publish.badges import requirements
from publish.badges.requirements import LAB_TESTED, SECURITY_SCANNED, VENDOR_VERIFIED, Judgement
from publish.views.public_servers import PublicServer
from scoring.results import weighting
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import ComponentScore, DimensionScore, Line, Scorecard
from scoring.rubrics.adaptive_dimensions import DIMENSIONS
from tests.publish.judged import published, receipts, whole
from tests.sampling import examples

PARTS = [(dimension.name, part.name) for dimension in DIMENSIONS for part in dimension.components]
HIDDEN = NotMeasured("no_repository")

Results = Mapping[tuple[str, str], int]

results = st.fixed_dictionaries({part: st.sampled_from([0, 3, 6, 7, 8, 9, 10, 10]) for part in PARTS})
some_parts = st.sets(st.sampled_from(PARTS))


@cache
def shown() -> PublicServer:
    return published(whole())


@cache
def cards() -> Sequence[Scorecard]:
    return receipts(whole())


@settings(derandomize=True, max_examples=examples(150), deadline=None)
@given(results, some_parts, some_parts)
def test_a_part_that_is_hidden_gains_nothing(
    found: Results, first: set[tuple[str, str]], more: set[tuple[str, str]]
) -> None:
    assert_no_gain(judged(found, first), judged(found, first | more))


@settings(derandomize=True, max_examples=examples(80), deadline=None)
@given(results, some_parts, st.sampled_from(PARTS), st.integers(0, 10))
def test_a_part_that_is_worse_gains_nothing(
    found: Results, hidden: set[tuple[str, str]], worse: tuple[str, str], result: int
) -> None:
    assert_no_gain(judged(found, hidden), judged({**found, worse: min(result, found[worse])}, hidden))


def test_a_secret_that_is_hidden_raises_the_score_and_earns_no_badge() -> None:
    found = dict.fromkeys(PARTS, 10) | {("security", "dependencies"): 3, ("security", "secrets"): 3}
    found[("security", "authentication")] = 8
    open_, hidden = card(found, set()), card(found, {("security", "secrets")})
    assert hidden.score > open_.score  # type: ignore[operator]
    for seen in (set(), {("security", "secrets")}):
        assert not {SECURITY_SCANNED, VENDOR_VERIFIED} & set(judged(found, seen).earned)


def test_half_a_server_that_is_hidden_doubles_the_score_and_earns_no_badge() -> None:
    found = {part: 8 if part[0] in {"reliability", "security"} else 0 for part in PARTS}
    bad = {part for part in PARTS if found[part] == 0}
    assert (card(found, set()).score, card(found, bad).score, card(found, bad).coverage) == (40, 80, Decimal("0.5"))
    assert LAB_TESTED not in judged(found, set()).earned
    assert LAB_TESTED not in judged(found, bad).earned


def test_each_badge_is_earned_at_its_number_and_not_below_it() -> None:
    perfect = dict.fromkeys(PARTS, 10)
    security = {part for part in PARTS if part[0] == "security"}
    assert SECURITY_SCANNED in judged({**perfect, **dict.fromkeys(security, 7)}, set()).earned
    assert SECURITY_SCANNED not in judged({**perfect, **dict.fromkeys(security, 6)}, set()).earned
    assert VENDOR_VERIFIED in judged({**perfect, **dict.fromkeys(security, 8)}, set()).earned
    assert VENDOR_VERIFIED not in judged({**perfect, **dict.fromkeys(security, 7)}, set()).earned
    assert LAB_TESTED in judged(dict.fromkeys(PARTS, 5), set()).earned
    assert LAB_TESTED not in judged(dict.fromkeys(PARTS, 4), set()).earned


def judged(found: Results, hidden: set[tuple[str, str]]) -> Judgement:
    return requirements.judge_server(shown(), [card(found, hidden), *cards()[1:]])


def card(found: Results, hidden: set[tuple[str, str]]) -> Scorecard:
    """The receipt of these results, added up as the methodology does."""
    parts = weighting.with_effective_weights(
        [
            dimension(
                declared.name,
                declared.weight,
                [
                    component(
                        part.name,
                        part.weight,
                        None if (declared.name, part.name) in hidden else found[declared.name, part.name],
                    )
                    for part in declared.components
                ],
            )
            for declared in DIMENSIONS
        ]
    )
    overall = weighting.compute_overall(parts)
    low, high = weighting.compute_bounds(parts)
    assert cards()[0].rubric == requirements.GATE_RUBRIC
    return replace(
        cards()[0],
        score=NotMeasured("nothing_measured") if overall is None else overall,
        dimensions=parts,
        lines=(),
        coverage=weighting.compute_coverage(parts),
        floor=low,
        ceiling=high,
    )


def dimension(name: str, weight: Decimal, made: list[ComponentScore]) -> DimensionScore:
    components = weighting.with_effective_weights(made)
    return DimensionScore(
        name=name,
        base_weight=weight,
        effective_weight=Decimal(0),
        result=weighting.compute_dimension_result(components),
        status=weighting.derive_status(components),
        components=components,
    )


def component(name: str, weight: Decimal, result: int | None) -> ComponentScore:
    if result is None:
        return ComponentScore(name=name, base_weight=weight, effective_weight=Decimal(0), result=HIDDEN)
    lost = Decimal(result) - 10
    lines = (Line(cites=name, points=lost, why="made up"),) if lost else ()
    return ComponentScore(
        name=name, base_weight=weight, effective_weight=Decimal(0), result=Decimal(result), checked=1, lines=lines
    )


def assert_no_gain(had: Judgement, has: Judgement) -> None:
    assert set(has.earned) <= set(had.earned)
    assert has.indexed <= had.indexed
