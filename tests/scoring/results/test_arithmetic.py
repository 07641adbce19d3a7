"""The arithmetic is exact, rounds once, and does not depend on order."""

from __future__ import annotations

from decimal import ROUND_DOWN, Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring.results import arithmetic

D = Decimal
POINTS = st.lists(st.decimals(-100, 100, places=6), max_size=30)
WEIGHTS = st.dictionaries(st.text(min_size=1, max_size=3), st.integers(1, 100).map(Decimal), min_size=1, max_size=8)


@settings(derandomize=True)
@given(POINTS, st.randoms(use_true_random=False))
def test_deduct_does_not_depend_on_order(points: list[Decimal], random: object) -> None:
    shuffled = sorted(points)
    assert arithmetic.add_points(D(100), points) == arithmetic.add_points(D(100), shuffled)


@settings(derandomize=True)
@given(WEIGHTS, st.data())
def test_effective_weights_are_proportional_and_sum_to_one(base: dict[str, Decimal], data: st.DataObject) -> None:
    measured = data.draw(st.sets(st.sampled_from(sorted(base)), min_size=1))
    effective = arithmetic.redistribute_weights(base, measured)
    assert sum(effective.values()) == 1
    total = sum(base[key] for key in measured)
    for key, weight in effective.items():
        expected = Fraction(base[key]) / Fraction(total) if key in measured else Fraction(0)
        assert abs(Fraction(weight) - expected) < Fraction(1, 10**20)


def test_nothing_measured_has_no_weights() -> None:
    assert arithmetic.redistribute_weights({"a": D(1)}, set()) == {"a": D(0)}
    assert arithmetic.weighted_mean([]) is None
    assert arithmetic.compute_pass_rate(0, 0) is None


@settings(derandomize=True)
@given(st.decimals(0, 10, places=12), st.integers(1, 5000))
def test_split_parts_sum_to_the_whole(total: Decimal, parts: int) -> None:
    assert sum(arithmetic.split_evenly(total, parts)) == total


@pytest.mark.parametrize(
    ("value", "places", "expected"),
    [("0.5", 0, "1"), ("1.5", 0, "2"), ("2.5", 0, "3"), ("76.49999999999", 0, "76"), ("7.185", 2, "7.19")],
)
def test_halves_round_up(value: str, places: int, expected: str) -> None:
    assert arithmetic.round_half_up(D(value), places) == D(expected)


def test_division_noise_does_not_break_a_tie() -> None:
    third = D(10) / 3
    assert third * 3 != 10
    assert arithmetic.round_half_up(third * 3 * D("7.65")) == 77


@pytest.mark.parametrize(
    ("score", "name"), [("90", "A"), ("89.99", "B"), ("75", "B"), ("40", "D"), ("39", "F"), ("0", "F")]
)
def test_bands_begin_at_their_bound(score: str, name: str) -> None:
    bands = [(D(90), "A"), (D(75), "B"), (D(60), "C"), (D(40), "D")]
    assert arithmetic.find_band(D(score), bands, "F") == name


def test_clamp_keeps_what_is_inside() -> None:
    assert [arithmetic.clamp_value(D(value), D(0), D(100)) for value in (-5, 0, 50, 100, 105)] == [0, 0, 50, 100, 100]


def test_equal_numbers_are_written_alike() -> None:
    assert [str(arithmetic.normalize_decimal(D(value))) for value in ("1E+2", "77.00", "0.50", "-0")] == [
        "100",
        "77",
        "0.5",
        "0",
    ]


def test_a_total_is_apportioned_by_weight_to_the_quantum() -> None:
    assert arithmetic.apportion_total(D(9), [D(1), D(0), D(2)]) == [D(3), D(0), D(6)]
    third = (D(1) / 3).quantize(arithmetic.QUANTUM, rounding=ROUND_DOWN)
    assert arithmetic.apportion_total(D(1), [D(1), D(1), D(1)]) == [third, third, D(1) - 2 * third]


@pytest.mark.parametrize(
    ("damage", "things", "loss"),
    [("0", "4", "0"), ("4", "4", "1"), ("1", "1", "1"), ("1", "4", "0.4375"), ("2", "4", "0.66666667")],
)
def test_loss_is_half_the_share_and_half_saturated(damage: str, things: str, loss: str) -> None:
    """For 1 of 4: (1/4 + 1/2 * 5/4) / 2."""
    found = arithmetic.saturate_loss(D(damage), D(things))
    assert found is not None
    assert found.quantize(D("1E-8")) == D(loss)


def test_values_between_control_points_lie_on_a_line() -> None:
    points = [(D(0), D(10)), (D(4), D(20)), (D(8), D(60))]
    assert [arithmetic.interpolate(D(at), points) for at in (0, 1, 4, 6, 8)] == [10, D("12.5"), 20, 40, 60]
