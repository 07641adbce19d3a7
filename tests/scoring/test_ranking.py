"""Less evidence never pays: floors, ceilings and ranks when evidence is hidden."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from evidence.model import Absent, Dossier, Reason
from scoring.engine import catalogue
from scoring.engine.assess import assess_dossier
from scoring.engine.rubric import Rubric
from scoring.ranking import rank_key, rank_key_of_columns
from scoring.receipt import decode_scorecard, encode_scorecard
from scoring.results import weighting
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import ComponentScore, DimensionScore, Scorecard
from tests.dossiers import captures, cases, recorded
from tests.sampling import examples, some
from tests.scoring.dossiers import GOOD_ENTRY, GOOD_TOOL, dossier, entered, listed

POOR_ENTRY = {"name": "io.example/poor", "remotes": [{"type": "sse", "url": "http://x.example/sse?token=1"}]}
ENTRIES = {"good entry": GOOD_ENTRY, "poor entry": POOR_ENTRY}
WEIGHTED = [catalogue.get_rubric("adaptive@1")]
"""Rubrics of the published formula; `adaptive@2` has its own properties in test_adaptive_verdict."""


def whole(name: str, entry: Any = GOOD_ENTRY) -> Dossier:
    evidence = captures()[name]
    return replace(evidence, records={**evidence.records, **dossier(registered=entered(entry)).records})


def cards(evidence: Dossier) -> dict[str, Scorecard]:
    assessment = assess_dossier(evidence)
    return {rubric.name: rubric.score(assessment) for rubric in catalogue.list_rubrics()}


def hidden(evidence: Dossier, kind: str, reason: Reason | None) -> Dossier:
    """The dossier without a kind, or with an absence in its place."""
    records = {name: record for name, record in evidence.records.items() if name != kind}
    if reason:
        records[kind] = replace(evidence.records[kind], content=Absent(reason))
    return replace(evidence, records=records)


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("name", some(captures(), 3))
def test_hiding_a_kind_of_evidence_never_improves_floor_or_rank(name: str, entry: str) -> None:
    evidence = whole(name, ENTRIES[entry])
    before = cards(evidence)
    for kind in evidence.records:
        for reason in (None, Reason.OAUTH_REQUIRED):
            for rubric, card in cards(hidden(evidence, kind, reason)).items():
                assert card.floor <= before[rubric].floor
                assert rank_key(card) >= rank_key(before[rubric])


@pytest.mark.parametrize("name", some(recorded(), 3))
def test_hiding_what_was_said_on_the_wire_never_improves_floor_or_rank(name: str) -> None:
    evidence = replace(
        recorded()[name], records={**recorded()[name].records, **dossier(registered=entered(GOOD_ENTRY)).records}
    )
    before = cards(evidence)
    assert len(evidence.records) >= 6
    for kind in evidence.records:
        for reason in (None, Reason.OAUTH_REQUIRED, Reason.TIMEOUT):
            for rubric, card in cards(hidden(evidence, kind, reason)).items():
                assert card.floor <= before[rubric].floor, (kind, reason)
                assert rank_key(card) >= rank_key(before[rubric]), (kind, reason)


@pytest.mark.parametrize("name", captures())
def test_hiding_a_component_never_improves_floor_or_rank(name: str) -> None:
    for rubric in WEIGHTED:
        card = rubric.score(assess_dossier(whole(name, POOR_ENTRY), [rubric]))
        for found, less in without_components(card):
            assert less.floor <= card.floor, found
            assert rank_key(less) >= rank_key(card), found


def without_components(card: Scorecard) -> Iterator[tuple[str, Scorecard]]:
    for at, dimension in enumerate(card.dimensions):
        for place, part in enumerate(dimension.components):
            gone = ComponentScore(
                name=part.name, base_weight=part.base_weight, effective_weight=Decimal(0), result=NotMeasured("hidden")
            )
            parts = (*dimension.components[:place], gone, *dimension.components[place + 1 :])
            less = replace(dimension, components=parts, result=weighting.compute_dimension_result(parts))
            yield (
                f"{dimension.name}.{part.name}",
                _with(card, (*card.dimensions[:at], less, *card.dimensions[at + 1 :])),
            )


def _with(card: Scorecard, dimensions: tuple[DimensionScore, ...]) -> Scorecard:
    floor, ceiling = weighting.compute_bounds(dimensions)
    score = weighting.compute_overall(dimensions)
    return replace(
        card,
        dimensions=dimensions,
        score=NotMeasured("hidden") if score is None else score,
        coverage=weighting.compute_coverage(dimensions),
        floor=floor,
        ceiling=ceiling,
    )


@pytest.mark.parametrize("name", captures())
def test_hiding_one_dimension_leaves_the_others_unchanged(name: str) -> None:
    for rubric in WEIGHTED:
        card = rubric.score(assess_dossier(whole(name), [rubric]))
        for gone in card.dimensions:
            left = [part for part in card.dimensions if part.name != gone.name]
            hide = [replace(part, result=NotMeasured("hidden")) if part is gone else part for part in card.dimensions]
            after = [part for part in weighting.with_effective_weights(hide) if part.name != gone.name]
            assert [part.result for part in after] == [part.result for part in left]
            assert sum(part.effective_weight for part in after) == 1


def test_hiding_the_registration_changes_no_answer_about_the_listing() -> None:
    rubric = catalogue.get_rubric("adaptive@1")
    before = rubric.score(assess_dossier(whole("mcp-server-git"), [rubric]))
    after = rubric.score(assess_dossier(captures()["mcp-server-git"], [rubric]))
    for name in ("reliability", "documentation"):
        old, new = (next(part for part in card.dimensions if part.name == name) for card in (before, after))
        kept = [part for part in new.components if not isinstance(part.result, NotMeasured)]
        assert [(part.name, part.result) for part in kept] == [
            (part.name, part.result) for part in old.components if part.name in {inner.name for inner in kept}
        ]


@pytest.mark.parametrize("rubric", WEIGHTED, ids=lambda rubric: rubric.name)
def test_effective_weights_sum_to_one(rubric: Rubric) -> None:
    for evidence in [*captures().values(), *cases().values(), dossier(registered=entered(POOR_ENTRY))]:
        card = rubric.score(assess_dossier(evidence, [rubric]))
        measured = [part for part in card.dimensions if not isinstance(part.result, NotMeasured)]
        assert sum(part.effective_weight for part in measured) == 1
        for part in measured:
            assert sum(inner.effective_weight for inner in part.components) == 1


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=pytest.mark.soak)])
def test_floor_and_ceiling_enclose_the_score_and_what_lies_between_was_not_measured(every: int) -> None:
    recorded_ones = [*captures().values(), *cases().values()][::every]
    for evidence in [whole("mcp-server-time"), *recorded_ones, dossier()]:
        for card in cards(evidence).values():
            score = None if isinstance(card.score, NotMeasured) else card.score
            assert 0 <= card.floor <= (card.floor if score is None else score) <= card.ceiling <= 100
            if card.dimensions and (score is not None or card.rubric == "adaptive") and card.version == 1:
                assert weighting.compute_bounds(card.dimensions) == (card.floor, card.ceiling)
                assert abs(card.ceiling - card.floor - 100 * (1 - card.coverage)) <= 1


def test_no_score_can_be_anything_and_a_plain_score_is_its_own_bounds() -> None:
    for card in cards(dossier()).values():
        assert (card.floor, card.ceiling) == (0, 100)
    lint = cards(captures()["mcp-server-git"])["lint@1"]
    assert lint.floor == lint.ceiling == lint.score


def test_a_list_that_failed_counts_as_unmeasured_in_the_floor() -> None:
    rubric = catalogue.get_rubric("adaptive@1")
    failed = {"declared": True, "end": "failed", "error": "timeout", "pages": []}
    clean = rubric.score(assess_dossier(dossier(listed=listed(GOOD_TOOL, prompts=[])), [rubric]))
    less = rubric.score(assess_dossier(dossier(listed=listed(GOOD_TOOL, prompts=failed)), [rubric]))
    assert less.score == clean.score
    assert less.floor < clean.floor
    assert less.coverage < clean.coverage


def test_a_locked_server_with_a_perfect_entry_stands_below_a_measured_one() -> None:
    rubric = catalogue.get_rubric("adaptive@1")
    locked = dossier(listed=Absent(Reason.OAUTH_REQUIRED), registered=entered(GOOD_ENTRY))
    seen = whole("blender-mcp")
    first, second = (rubric.score(assess_dossier(evidence, [rubric])) for evidence in (locked, seen))
    assert first.score == 100 > second.score
    assert rank_key(second) < rank_key(first)


def test_bounds_survive_the_receipt_and_old_receipts_have_none() -> None:
    card = cards(captures()["mcp-server-git"])["adaptive@1"]
    assert card.floor < card.score
    data = encode_scorecard(card)
    assert decode_scorecard(data).floor == card.floor
    stripped = data.replace(f'"floor":"{card.floor}",'.encode(), b"", 1)
    assert b"floor" in data and decode_scorecard(stripped).ceiling == card.ceiling


@settings(derandomize=True, max_examples=examples(100))
@given(st.integers(0, 100), st.integers(0, 100), st.integers(0, 100), st.text(max_size=3))
def test_a_higher_floor_always_stands_higher(floor: int, coverage: int, score: int, server: str) -> None:
    ours = rank_key_of_columns(floor=Decimal(floor), coverage=Decimal(coverage), score=Decimal(score), server=server)
    assert ours > rank_key_of_columns(floor=Decimal(floor + 1), coverage=Decimal(0), score=None, server="zzz")
    assert ours < rank_key_of_columns(floor=Decimal(floor), coverage=Decimal(coverage), score=None, server=server)
    assert ours < rank_key_of_columns(
        floor=Decimal(floor), coverage=Decimal(coverage), score=Decimal(score), server=f"{server}a"
    )
