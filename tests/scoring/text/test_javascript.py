"""JavaScript's reading, where Python's differs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evidence.kinds.listing import UNDEFINED
from scoring.text import evidence_path, javascript


@pytest.mark.parametrize(("text", "length"), [("abc", 3), ("é", 1), ("\U0001f600", 2), ("\ud800", 1), ("", 0)])
def test_length_counts_utf16_units(text: str, length: int) -> None:
    assert javascript.utf16_length(text) == length


def test_trim_knows_the_byte_order_mark_and_leaves_information_separators() -> None:
    assert javascript.trim_whitespace("\ufeff \u00a0x\u2029") == "x"
    assert javascript.trim_whitespace("\x85x\x1c") == "\x85x\x1c"


@pytest.mark.parametrize(
    ("value", "truth"),
    [(UNDEFINED, False), (None, False), (0, False), (-0.0, False), ("", False), ([], True), ({}, True), ("0", True)],
)
def test_empty_lists_and_objects_are_true(value: Any, truth: bool) -> None:
    assert javascript.is_truthy(value) is truth


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ('{"a":1.0}', '{"a":1}'),
        ('{"a":1e21}', '{"a":1e+21}'),
        ('{"a":[12345678901234567890]}', '{"a":[12345678901234567000]}'),
        ('{"a":0.1}', '{"a":0.1}'),
        ('{"a":-1e400}', '{"a":null}'),
        ('{"a":"2.50 and \\u00e9"}', '{"a":"2.50 and é"}'),
        ('{"a":"\\ud800"}', '{"a":"\\ud800"}'),
        ("-1.50", "-1.5"),
        ("true", "true"),
    ],
)
def test_stringified_length_is_that_of_json_stringify(source: str, expected: str) -> None:
    assert javascript.stringified_length(json.loads(source)) == len(expected.encode("utf-16-le")) // 2


def test_number_too_large_for_a_double_is_null_as_in_javascript() -> None:
    assert javascript.stringified_length(json.loads("1e400")) == len("null")
    assert javascript.stringified_length(10**400) == len("null")
    assert javascript.stringified_length(UNDEFINED) == len("undefined")


def test_entries_of_a_list_are_its_indices() -> None:
    assert javascript.object_entries(["x"]) == {"0": "x"}
    assert javascript.object_entries("x") == {}


def test_segments_are_readable_bounded_and_different() -> None:
    names = ["a", "b", "a", "", "a/b", "@", "~1", "x" * 500]
    segments = list(evidence_path.name_segments(names))
    assert segments[:7] == ["a@0", "b", "a@2", "@3", "a~1b", "~2", "~01"]
    assert len(set(segments)) == len(segments)
    assert max(map(len, segments)) < 100
    assert [evidence_path.unescape_segment(segment) for segment in segments[:7]] == names[:7]
