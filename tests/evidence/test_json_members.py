"""What a hostile body holds instead of what it should is as if it were not there."""

from __future__ import annotations

import pytest

from evidence.canonical import Json
from evidence.json_members import (
    array_or_empty,
    count_or_none,
    count_or_zero,
    object_or_empty,
    objects_in,
    strings_in,
    text_or_empty,
    text_or_none,
)

ODD: list[Json] = [None, True, 3, 2.5, "word", [], ["a", 1, {"b": 2}], {}, {"c": "d"}]


@pytest.mark.parametrize("value", ODD, ids=repr)
def test_every_value_is_read_as_something_of_the_type(value: Json) -> None:
    assert object_or_empty(value) == (value if isinstance(value, dict) else {})
    assert array_or_empty(value) == (value if isinstance(value, list) else ())
    assert text_or_empty(value) == (value if isinstance(value, str) else "")
    assert text_or_none(value) == (value if isinstance(value, str) else None)


def test_of_an_array_only_what_is_asked_for_is_taken() -> None:
    mixed: list[Json] = ["a", 1, {"b": 2}, None, ["x"]]
    assert strings_in(mixed) == ("a",)
    assert objects_in(mixed) == [{"b": 2}]
    assert strings_in("abc") == ()


@pytest.mark.parametrize("value", [True, False, -1, 2.0, "3", None], ids=repr)
def test_what_is_no_count_is_unknown_or_nothing(value: Json) -> None:
    assert count_or_none(value) is None
    assert count_or_zero(value) == 0


def test_zero_is_a_count() -> None:
    assert count_or_none(0) == 0
    assert count_or_zero(7) == 7
