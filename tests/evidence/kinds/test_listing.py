"""The tolerant view over listings: every shape that servers send, and no crash."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evidence.canonical import NotJson
from evidence.kinds.listing import LISTS, UNDEFINED, End, Listing

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
)


def listing(**members: Any) -> Listing:
    return Listing.parse(json.dumps(members).encode())


def tools(*pages: Any, **part: Any) -> Listing:
    return listing(lists={"tools": {"declared": True, "end": "complete", "error": None, "pages": list(pages), **part}})


def test_items_keep_their_order_and_number_over_pages() -> None:
    view = tools({"tools": [{"name": "a"}, {"name": "b"}]}, {"tools": [{"name": "c"}]}).tools
    assert [(item.name, item.index) for item in view.items] == [("a", 0), ("b", 1), ("c", 2)]
    assert [item.name for item in view.first_page] == ["a", "b"]
    assert view.end is End.COMPLETE
    assert view.declared


def test_item_that_is_not_an_object_is_kept() -> None:
    items = tools({"tools": ["a", None, 3, {"name": 7, "description": None}]}).tools.items
    assert [item.raw for item in items[:3]] == ["a", None, 3]
    assert [item.name for item in items] == ["", "", "", ""]


def test_missing_member_is_not_null() -> None:
    (item,) = tools({"tools": [{"description": None}]}).tools.items
    assert item.get("description") is None
    assert item.get("inputSchema") is UNDEFINED
    assert item.description == ""


@pytest.mark.parametrize("page", [None, "x", 3, [], {}, {"tools": None}, {"tools": {}}, {"resources": [1]}])
def test_page_without_a_list_has_no_items(page: Any) -> None:
    assert tools(page).tools.items == ()


def test_list_that_the_body_lacks_was_not_asked_for() -> None:
    view = listing()
    for name in LISTS:
        part = view.list_of(name)
        assert (part.declared, part.end, part.items, part.first_page) == (False, End.NOT_ASKED, (), ())


def test_each_list_is_read_from_its_own_member() -> None:
    lists = {
        name: {"declared": True, "end": "error", "error": name, "pages": [{name: [{"name": name}]}]} for name in LISTS
    }
    view = listing(lists=lists)
    parts = (view.tools, view.resources, view.resource_templates, view.prompts)
    assert [part.items[0].name for part in parts] == list(LISTS)
    assert [part.error for part in parts] == list(LISTS)


@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_server_info_is_found_where_the_era_puts_it(era: str) -> None:
    info = {"name": "weather", "version": "1"}
    opening = {"serverInfo": info} if era == "legacy" else {"_meta": {"io.modelcontextprotocol/serverInfo": info}}
    view = listing(era=era, opening=opening)
    assert view.server_info == info
    assert view.era == era


def test_head_is_read_as_sent_or_as_empty() -> None:
    view = listing(transport="stdio", protocolVersion="2025-11-25", sandbox="none", opening={"instructions": "Hi"})
    assert (view.transport, view.protocol_version, view.sandbox, view.instructions) == (
        "stdio",
        "2025-11-25",
        "none",
        "Hi",
    )
    odd = listing(transport=1, protocolVersion=20251125, sandbox=None, opening=[1])
    assert (odd.transport, odd.protocol_version, odd.sandbox, odd.instructions) == ("", None, "", "")
    assert odd.capabilities == odd.server_info == {}


def test_body_that_is_not_json_is_our_own_fault() -> None:
    with pytest.raises(NotJson):
        Listing.parse(b"<html>")


@given(JSON, st.dictionaries(st.sampled_from(["opening", "lists", "transport", "era", "sandbox"]), JSON))
def test_no_shape_of_results_breaks_the_view(page: Any, members: dict[str, Any]) -> None:
    members["lists"] = {"tools": {"declared": page, "error": page, "pages": page}, "prompts": page, **_lists(members)}
    view = listing(**members)
    assert len(view.tools.items) >= len(view.tools.first_page)
    for name in LISTS:
        assert all(isinstance(item.name, str) for item in view.list_of(name).items)
    assert isinstance(view.instructions + view.transport + view.era + view.sandbox, str)
    assert view.server_info is not None


def _lists(members: dict[str, Any]) -> dict[str, Any]:
    """An arbitrary `lists` member, without an end that no collector of ours would write."""
    lists = members.get("lists")
    return {
        name: {**part, "end": "complete"} if isinstance(part, dict) else part
        for name, part in (lists.items() if isinstance(lists, dict) else ())
    }
