"""JSON in as few lines as fit."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from evidence.canonical import Json
from scoring.compact_json import WIDTH, format_alike, format_compact

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
)


def test_only_what_does_not_fit_is_laid_out() -> None:
    tool: Json = {"name": "list-tags", "inputSchema": {"type": "object"}, "title": "x" * 40}
    assert format_compact(tool).split("\n") == [
        "{",
        '  "name": "list-tags",',
        '  "inputSchema": {"type": "object"},',
        f'  "title": "{"x" * 40}"',
        "}",
    ]
    assert format_compact({"name": "list-tags"}) == '{"name": "list-tags"}'


def test_two_texts_are_laid_out_alike() -> None:
    before, after = format_alike({"a": 1, "b": 2}, {"a": 1, "b": "x" * WIDTH})
    assert before.split("\n")[:2] == after.split("\n")[:2] == ["{", '  "a": 1,']
    assert format_alike({"a": 1}, {"a": 2}) == ('{"a": 1}', '{"a": 2}')


@given(VALUES, VALUES)
def test_the_layout_changes_no_value(before: Json, after: Json) -> None:
    assert [json.loads(text) for text in format_alike(before, after)] == [before, after]
    assert json.loads(format_compact(before)) == before
