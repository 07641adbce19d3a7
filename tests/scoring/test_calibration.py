"""Calibration: distributions, proposed cut-offs and percentiles."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from decimal import Decimal
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring import calibration
from scoring.calibration import CalibrationTable, compute_percentile, propose_cutoffs
from scoring.engine import catalogue
from scoring.named_corpora import CORPORA, STARTER, find_percentile
from scoring.results import arithmetic
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import Scorecard
from scoring.rubrics.adaptive_verdict import ADAPTIVE_2

VALUES = st.lists(st.integers(0, 10_000).map(lambda number: Decimal(number) / 100), min_size=1, max_size=60)
VALUE = st.integers(0, 100).map(Decimal)


def card(score: Decimal | NotMeasured, version: int = 2) -> Scorecard:
    return Scorecard(
        server="srv_1",
        rubric="adaptive",
        version=version,
        source_version="2.1",
        score=score,
        grade=None,
        as_of=datetime(2026, 11, 25, tzinfo=UTC),
        coverage=Decimal(1),
    )


@given(values=VALUES)
def test_figures_count_every_value_once(values: list[Decimal]) -> None:
    found = calibration.describe_distribution(values)
    assert sum(found.bins) == found.count == len(values)
    assert list(found.deciles) == sorted(found.deciles)
    assert (found.deciles[0], found.deciles[-1]) == (min(values), max(values))
    assert min(values) - Decimal("1E-20") <= found.mean <= max(values) + Decimal("1E-20")
    assert 0 <= found.deviation <= (max(values) - min(values)) / 2 + Decimal("1E-12")


@given(values=VALUES)
def test_every_value_has_one_grade(values: list[Decimal]) -> None:
    for bands in (ADAPTIVE_2.bands, propose_cutoffs(values)):
        shares = calibration.count_grades(values, bands)
        assert [share.grade for share in shares] == [grade for _, grade in bands]
        assert sum(share.count for share in shares) == len(values)
        assert abs(sum((share.share for share in shares), Decimal(0)) - 1) < Decimal("1E-20")


@given(values=VALUES)
def test_no_more_servers_reach_a_proposed_cutoff_than_its_share_and_one_point_less_would_let_more(
    values: list[Decimal],
) -> None:
    bounds = propose_cutoffs(values)
    assert all(better >= worse for (better, _), (worse, _) in pairwise(bounds))
    for (share, grade), (bound, name) in zip(calibration.SHARES, bounds, strict=False):
        allowed = math.ceil(share * len(values))
        assert grade == name
        assert bound == int(bound) and 0 <= bound <= 100
        assert bound == 100 or sum(value >= bound for value in values) <= allowed
        assert bound == 0 or sum(value >= bound - 1 for value in values) > allowed


@given(values=VALUES, one=VALUE, other=VALUE)
def test_a_higher_value_never_has_a_lower_percentile(values: list[Decimal], one: Decimal, other: Decimal) -> None:
    low, high = (compute_percentile(value, values) for value in sorted([one, other]))
    assert 0 <= low <= high <= 100
    assert compute_percentile(max(values) + 1, values) == 100
    assert compute_percentile(min(values) - 1, values) == 0


@given(values=VALUES, value=VALUE)
def test_the_order_of_the_values_does_not_matter(values: list[Decimal], value: Decimal) -> None:
    turned = values[::-1]
    assert calibration.describe_distribution(turned) == calibration.describe_distribution(values)
    assert propose_cutoffs(turned) == propose_cutoffs(values)
    assert compute_percentile(value, turned) == compute_percentile(value, values)


def test_figures_of_a_small_corpus_are_those_computed_by_hand() -> None:
    found = calibration.describe_distribution([Decimal(value) for value in (10, 20, 30, 100)])
    assert (found.mean, round(found.deviation, 3)) == (40, Decimal("35.355"))
    assert found.deciles == tuple(map(Decimal, (10, 10, 10, 20, 20, 20, 30, 30, 100, 100, 100)))
    assert found.bins == (0, 1, 1, 1, 0, 0, 0, 0, 0, 1)


def test_equal_values_count_half_in_a_percentile() -> None:
    values = [Decimal(value) for value in (40, 50, 50, 60)]
    assert [compute_percentile(Decimal(value), values) for value in (39, 40, 50, 55, 60, 61)] == [
        0,
        12,
        50,
        75,
        87,
        100,
    ]


@pytest.mark.parametrize("compute", [calibration.describe_distribution, propose_cutoffs])
def test_nothing_is_computed_from_no_values(compute: object) -> None:
    with pytest.raises(ValueError, match="at least one value"):
        compute([])  # type: ignore[operator]


def test_proposed_grades_are_those_of_the_rubric() -> None:
    assert [grade for _, grade in propose_cutoffs([Decimal(50)])] == [grade for _, grade in ADAPTIVE_2.bands]


def test_a_document_holds_what_is_needed_to_check_it() -> None:
    table = CalibrationTable(
        corpus="mine",
        rubric="adaptive",
        version=2,
        ruleset="00",
        run="run_1",
        as_of=datetime(2026, 11, 25, tzinfo=UTC),
        values=(Decimal(90), Decimal("12.5")),
    )
    document = calibration.make_document(table, ADAPTIVE_2.bands)
    assert document["hallmark_calibration"] == calibration.FORMAT
    assert (document["rubric"], document["ruleset"], document["run"]) == ("adaptive@2", "00", "run_1")
    assert (document["as_of"], document["values"]) == ("2026-11-25T00:00:00+00:00", [12.5, 90])
    assert {row["grade"]: row["count"] for row in document["published"] if row["count"]} == {"A": 1, "F": 1}  # type: ignore[union-attr,index,call-overload]


def test_corpora_are_named_once_sorted_and_of_a_known_rubric() -> None:
    assert len({table.corpus for table in CORPORA}) == len(CORPORA)
    for table in CORPORA:
        assert list(table.values) == sorted(table.values)
        assert catalogue.get_rubric(table.rubric, table.version).default
    assert len(STARTER.values) == 19


def test_a_percentile_belongs_to_a_score_of_the_same_version() -> None:
    middle = arithmetic.round_half_up(calibration.describe_distribution(STARTER.values).deciles[5])
    found = find_percentile(card(middle))
    assert found is not None
    assert (found.corpus, 40 <= found.value <= 60) == ("starter-2026-11", True)
    assert find_percentile(card(middle, version=1)) is None
    assert find_percentile(card(NotMeasured("not_enough_evidence"))) is None
