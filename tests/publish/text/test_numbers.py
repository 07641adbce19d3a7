"""Published numbers: the same value as text and in JSON, and never past a bound that was not reached."""

from __future__ import annotations

from decimal import Decimal

import pytest

from publish.text.numbers import format_number, json_number, json_share, round_short_of


def test_whole_numbers_have_no_fraction() -> None:
    assert [repr(json_number(Decimal(text))) for text in ("71.00", "0", "62.5", "-0.001")] == ["71", "0", "62.5", "0"]


@pytest.mark.parametrize("text", ["0.005", "2.675", "33.333333333333333333333333", "89.994999", "-1.005", "100"])
def test_the_json_number_is_the_shown_number(text: str) -> None:
    assert str(json_number(Decimal(text))) == format_number(Decimal(text)).replace("−", "-")


def test_a_share_has_the_decimals_of_its_percentage() -> None:
    assert json_share(Decimal("0.78249999")) == 0.782


@pytest.mark.parametrize(
    ("value", "shown"), [("0.79999", "0.799"), ("0.8", "0.8"), ("0.80001", "0.8"), ("0.7994", "0.799")]
)
def test_a_bound_that_is_not_reached_is_not_shown_as_reached(value: str, shown: str) -> None:
    assert round_short_of(Decimal(value), Decimal("0.8"), 3) == Decimal(shown)
