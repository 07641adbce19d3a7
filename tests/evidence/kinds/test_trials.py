"""The view over trials is tolerant, and tells answers apart from what says nothing."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.canonical import NotJson
from evidence.kinds.trials import Structured, TrialOutcome, Trials

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
ROWS = st.dictionaries(
    st.sampled_from(["tool", "index", "outcome", "code", "structured", "content", "arguments", "locked", "reason"]),
    VALUES,
)


@given(body=st.dictionaries(st.sampled_from(["policy", "trials", "skipped", "unlisted"]), st.lists(ROWS) | VALUES))
def test_a_body_of_any_shape_can_be_viewed(body: dict[str, object]) -> None:
    view = Trials.parse(json.dumps(body).encode())
    assert len(view.answered) <= len(view.trials)


def test_what_is_no_json_is_our_own_fault() -> None:
    with pytest.raises(NotJson):
        Trials.parse(b"{")


def test_members_are_read_as_they_are_written() -> None:
    row = {
        "tool": "get_note", "index": 3, "class": "read", "basis": "name", "why": "get", "kind": "call", "parameter": "",
        "arguments": {"id": "example"}, "outcome": "result", "code": None, "reason": "", "detail": "",
        "content": ["text"], "empty": False, "structured": "invalid", "complaint": "type", "text": "", "locked": False,
    }  # fmt: skip
    skipped = {"tool": "drop", "index": 0, "class": "destructive", "basis": "name", "why": "drop", "reason": "not_read"}
    view = Trials.parse(json.dumps({"policy": "read", "trials": [row], "skipped": [skipped], "unlisted": 2}).encode())

    [tried], [left] = view.trials, view.skipped
    assert (tried.tool, tried.outcome, tried.structured) == ("get_note", TrialOutcome.RESULT, Structured.INVALID)
    assert (left.tool, left.authority, left.reason) == ("drop", "destructive", "not_read")
    assert (view.policy, view.unlisted, view.answered) == ("read", 2, (tried,))
