"""The view over what a server hands out is tolerant of anything but bytes that are no JSON."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.canonical import NotJson
from evidence.kinds.handouts import Handouts

VALUES = st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=3)
ROWS = st.lists(VALUES | st.dictionaries(st.sampled_from(["uri", "tool", "index", "text", "whole", "why"]), VALUES))


@given(body=st.dictionaries(st.sampled_from(["resources", "results", "unread", "untried"]), ROWS | VALUES))
def test_any_shape_is_viewed(body: dict[str, object]) -> None:
    view = Handouts.parse(json.dumps(body).encode())

    assert view.unread >= 0
    assert all(each.index >= 0 for each in (*view.resources, *view.results))


def test_a_body_is_read() -> None:
    text = {"text": "Hello.", "whole": False, "binary": 1}
    body = {
        "resources": [{"uri": "note://a", "index": 3, **text, "why": ""}],
        "unread": 4,
        "results": [{"tool": "get_note", "index": 1, **text}],
        "untried": "write_only",
    }
    view = Handouts.parse(json.dumps(body).encode())

    [resource], [result] = view.resources, view.results
    assert (resource.name, resource.index, resource.text, resource.whole, resource.binary) == (
        "note://a",
        3,
        "Hello.",
        False,
        1,
    )
    assert (result.name, result.index, result.text) == ("get_note", 1, "Hello.")
    assert (view.unread, view.untried) == (4, "write_only")


def test_what_is_no_json_is_refused() -> None:
    with pytest.raises(NotJson):
        Handouts.parse(b"{")
