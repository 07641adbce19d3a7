"""The view over an access body is tolerant of every document, and says what a request could not tell."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.kinds.access import Access, AccessClass, MetadataAttempt

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
MEMBERS = ("registered", "gate", "versions", "answers", "challenges", "resource_metadata", "authorization_servers")


def view(**members: Any) -> Access:
    return Access.parse(json.dumps({"class": "open", **members}).encode())


@given(st.dictionaries(st.sampled_from((*MEMBERS, "bogus", "cut")), JSON))
def test_every_shape_is_read(members: dict[str, Any]) -> None:
    access = view(**members)
    assert access.access_class is AccessClass.OPEN
    assert access.revision in "ABCDE"
    assert [access.gate, access.bogus, access.challenges, access.resource, access.is_cut("metadata")]
    assert all(server.found is None or server.found.document is not None for server in access.authorization_servers)


def attempt(**members: Any) -> MetadataAttempt:
    return view(resource_metadata=[{"by": "path", "url": "x", **members}]).resource_metadata[0]


@pytest.mark.parametrize(
    ("members", "unclear"),
    [
        ({"status": 404}, ""),
        ({"status": 200, "problem": "not JSON"}, ""),
        ({"status": 200, "document": {}}, ""),
        ({"status": None, "problem": "the URL is malformed"}, ""),
        ({"status": 429}, "HTTP 429"),
        ({"status": 503}, "HTTP 503"),
        ({"status": 308, "location": "/x"}, "HTTP 308"),
        ({"status": None, "failure": {"reason": "timeout", "detail": "late"}}, "timeout: late"),
        ({"status": 200, "failure": {"reason": "too_large", "detail": ""}}, "too_large"),
    ],
)
def test_an_attempt_says_what_it_leaves_open(members: dict[str, Any], unclear: str) -> None:
    assert attempt(**members).unclear == unclear


def test_locked_classes_are_gated() -> None:
    assert {one for one in AccessClass if one.is_gated} == {AccessClass.GATED_AT_CONNECT, AccessClass.GATED_AT_LIST}
