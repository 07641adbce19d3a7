"""What a hostile body holds instead of what it should is as if it were not there."""

from __future__ import annotations

import pytest

from evidence.canonical import Json
from evidence.members import array, count, known_count, known_text, mapping, mappings, text, texts

ODD: list[Json] = [None, True, 3, 2.5, "word", [], ["a", 1, {"b": 2}], {}, {"c": "d"}]


@pytest.mark.parametrize("value", ODD, ids=repr)
def test_every_value_is_read_as_something_of_the_type(value: Json) -> None:
    assert mapping(value) == (value if isinstance(value, dict) else {})
    assert array(value) == (value if isinstance(value, list) else ())
    assert text(value) == (value if isinstance(value, str) else "")
    assert known_text(value) == (value if isinstance(value, str) else None)


def test_of_an_array_only_what_is_asked_for_is_taken() -> None:
    mixed: list[Json] = ["a", 1, {"b": 2}, None, ["x"]]
    assert texts(mixed) == ("a",)
    assert mappings(mixed) == [{"b": 2}]
    assert texts("abc") == ()


@pytest.mark.parametrize("value", [True, False, -1, 2.0, "3", None], ids=repr)
def test_what_is_no_count_is_unknown_or_nothing(value: Json) -> None:
    assert known_count(value) is None
    assert count(value) == 0


def test_zero_is_a_count() -> None:
    assert known_count(0) == 0
    assert count(7) == 7
