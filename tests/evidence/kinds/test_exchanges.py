"""The tolerant view over an exchanges body."""

from __future__ import annotations

import json
from typing import Any

from evidence.kinds.exchanges import MAX_SESSION_LENGTH, REVISIONS, Exchange, Exchanges, find_revision, revision_letter
from evidence.kinds.listing import Listing


def exchange(*received: Any) -> Exchange:
    connection = {"transport": "stdio", "era": "legacy", "opened": True}
    row = {
        "step": "ping",
        "connection": 0,
        "sent": {"message": {"id": 2}},
        "received": [{"message": m} for m in received],
    }
    body = {"depth": "full", "connections": [connection], "exchanges": [row]}
    return Exchanges.parse(json.dumps(body).encode()).exchanges[0]


def test_a_late_answer_does_not_hide_the_one_that_was_asked_for() -> None:
    late, own = {"id": 1, "result": {"late": True}}, {"id": 2, "result": {"own": True}}

    assert exchange(late, own).result == {"own": True}
    assert exchange(own, late).result == {"own": True}


def test_an_answer_under_another_id_counts_when_there_is_no_better_one() -> None:
    assert exchange({"method": "ping"}, {"id": 9, "result": {}}).result == {}


def after_opening(step: str, **session: Any) -> str:
    connection = {"transport": "streamable-http", "era": "legacy", "opened": True, "session": session}
    body = {"connections": [connection], "exchanges": [{"step": step, "connection": 0, "status": 400}]}
    return Exchanges.parse(json.dumps(body).encode()).exchanges[0].unclear


def test_nothing_is_concluded_about_a_session_whose_id_cannot_be_sent_back() -> None:
    assert after_opening("ping", length=20, visible=False)
    assert after_opening("ping", length=MAX_SESSION_LENGTH + 1, visible=True)
    assert not after_opening("ping", length=20, visible=True)
    assert not after_opening("initialize", length=20, visible=False)


def test_a_legacy_connection_never_has_the_revision_without_initialize() -> None:
    assert [find_revision("legacy", version) for version in REVISIONS.values()] == ["A", "B", "C", "D", ""]
    assert revision_letter(Listing({"era": "legacy", "protocolVersion": "2026-07-28"})) == ""
    assert revision_letter(Listing({"era": "modern", "protocolVersion": "2026-07-28"})) == "E"


def test_rows_of_read_resources_are_viewed_when_their_connection_is_known() -> None:
    connection = {"transport": "stdio", "era": "legacy", "opened": True}
    rows = [{"connection": 0, "uri": "a://b", "keys": ["x", 7]}, {"connection": 1}, {"connection": "0"}, None]
    seen = Exchanges.parse(json.dumps({"connections": [connection], "read": rows}).encode())

    assert [(one.at, one.uri, one.keys) for one in seen.read] == [("exchanges/legacy/read-resource", "a://b", ("x",))]
