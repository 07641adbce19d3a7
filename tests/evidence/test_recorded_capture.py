"""A recorded capture becomes a dossier that says no more than was recorded."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from evidence.kinds.listing import End, Listing
from evidence.model import Absent, Dossier, Observed, Reason
from evidence.recorded_capture import InvalidCapture, dossier_from_capture

AS_OF = datetime(2026, 11, 20, tzinfo=UTC)
CAPTURE: dict[str, Any] = {
    "package": "@example/notes",
    "version": "1.2.3",
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}, "resources": {}},
        "serverInfo": {"name": "notes", "version": "1.2.3"},
    },
    "tools": [{"name": "get", "description": "\ud800"}],
    "resources": [],
    "resourceTemplates": [],
    "prompts": [],
    "capture": {
        "ecosystem": "npm",
        "transport": "stdio",
        "errors": {"resources/list": {"code": -32603, "message": "no database"}},
    },
}


def dossier(**changes: Any) -> Dossier:
    return dossier_from_capture(json.dumps({**CAPTURE, **changes}).encode(), AS_OF)


def listing(**changes: Any) -> Listing:
    content = dossier(**changes).read("listing")
    assert isinstance(content, Observed)
    return Listing.parse(content.body)


def test_package_is_the_same_server_as_in_a_registry() -> None:
    assert dossier().server.ref == "npm:@example/notes"
    assert dossier().as_of == AS_OF


def test_unknown_ecosystem_is_a_server_of_its_own() -> None:
    assert dossier(capture={}).server.ref == "capture:@example/notes"


def test_what_was_not_recorded_is_absent() -> None:
    content = dossier().read("registration")
    assert isinstance(content, Absent)
    assert content.reason is Reason.NOT_COLLECTED


def test_lists_keep_items_errors_and_what_was_not_asked() -> None:
    view = listing()
    assert [item.raw for item in view.tools.items] == CAPTURE["tools"]
    assert (view.resources.end, view.resources.error) == (End.ERROR, CAPTURE["capture"]["errors"]["resources/list"])
    assert (view.prompts.end, view.prompts.declared, view.prompts.pages) == (End.NOT_ASKED, False, ())
    assert view.protocol_version == "2025-11-25"


def test_recorded_items_of_an_undeclared_list_are_kept_as_undeclared() -> None:
    view = listing(prompts=[{"name": "p"}])
    assert (view.prompts.declared, len(view.prompts.items)) == (False, 1)


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"nonsense", "one JSON object"),
        (b"[]", "found list"),
        (b"{}", "`initialize`"),
        (json.dumps({**CAPTURE, "tools": {}}).encode(), "`tools` of a capture is a list"),
        (json.dumps({**CAPTURE, "tools": [7]}).replace("7", "1e999").encode(), "fit a double"),
    ],
)
def test_other_files_are_refused_with_what_was_expected(data: bytes, complaint: str) -> None:
    with pytest.raises(InvalidCapture, match=complaint):
        dossier_from_capture(data, AS_OF)
