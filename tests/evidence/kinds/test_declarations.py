"""What registry entries declare is found in every published shape, in the entry that is trusted most."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evidence.kinds.registration import Registration, transport_type


def view(*entries: Any) -> Registration:
    refs = [{"registry": f"r{index}", "name": "n", "entry": entry} for index, entry in enumerate(entries)]
    return Registration.parse(json.dumps({"refs": refs}).encode())


def test_wrapped_entries_are_read_like_plain_ones() -> None:
    plain = {"name": "io.example/notes", "packages": [{"identifier": "notes"}]}
    wrapped = {"server": plain, "_meta": {"official": {"status": "active"}}}
    assert view(wrapped).packages == view(plain).packages != ()


def test_equal_declarations_of_one_entry_count_once() -> None:
    found = view(
        {"remotes": [{"url": "https://a.example"}] * 2, "packages": [{"identifier": "a"}, {"identifier": "b"}]}
    )
    assert [remote.label for remote in found.remotes] == ["https://a.example"]
    assert [package.label for package in found.packages] == ["a", "b"]


@pytest.mark.parametrize("leading", [{}, None, {"packages": [], "title": ""}])
def test_an_entry_that_is_trusted_less_declares_nothing(leading: Any) -> None:
    stranger = {
        "title": "Evil",
        "packages": [{"identifier": "a", "environmentVariables": [{"name": "TOKEN"}]}],
        "remotes": [{"url": "http://a.example"}],
    }
    found = view(leading, stranger)
    assert (found.packages, found.remotes, found.settings, found.text("title")) == ((), (), (), "")
    assert len(found.refs) == 2


def test_settings_come_from_packages_and_remotes_in_both_spellings() -> None:
    entry = {
        "packages": [{"environmentVariables": [{"name": "A"}]}, {"environment_variables": [{"name": "B"}]}],
        "remotes": [{"headers": [{"name": "X-Key"}, "odd"]}],
    }
    assert [setting.label for setting in view(entry).settings] == ["A", "B", "X-Key"]


def test_text_is_the_first_of_several_places_in_the_leading_entry() -> None:
    known = view({"description": " ", "about": {"description": " Notes. "}}, {"description": "Later", "title": "Evil"})
    assert known.text("description", "about.description") == "Notes."
    assert known.text("title", "description.url") == ""


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ({"transport": {"type": "stdio"}}, "stdio"),
        ({"type": "SSE"}, "sse"),
        ({"transport_type": "streamable-http"}, "streamable-http"),
        ({"transport": [], "type": 7}, ""),
        ({}, ""),
    ],
)
def test_transport_is_read_in_every_shape(declared: dict[str, Any], expected: str) -> None:
    assert transport_type(declared) == expected


@pytest.mark.parametrize("entry", [None, 7, [], {"packages": {}}, {"remotes": [None]}, {"packages": [{"headers": 1}]}])
def test_odd_entries_declare_nothing_to_set(entry: Any) -> None:
    assert view(entry).settings == ()
