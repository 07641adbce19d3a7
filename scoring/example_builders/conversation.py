"""Builders for the examples of conformance rules: short conversations, read through the same view as evidence.

conversation(legacy("ping", result={}), modern("unknown-method", status=404, error={"code": -32601}))
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, Final, cast

from evidence.canonical import Json
from evidence.kinds.exchanges import REVISIONS, Exchanges
from evidence.kinds.listing import UNDEFINED, Listing
from scoring.scopes.conversation import Conversation

_CONNECTION: Final = "connection"


def build_conversation(
    *exchanges: dict[str, Any],
    depth: str = "full",
    listing: Mapping[str, Any] | None = None,
    target: Mapping[str, Json] | None = None,
    read: Sequence[Json] = (),
) -> Conversation:
    """A conversation of exchanges made by the `*_exchange` functions; `listing` is a listing body.

    `read` are rows of that member of the body.
    """
    known = Listing(json.loads(json.dumps(listing))) if listing is not None else None
    recorded = cast("Exchanges", _UnparsedExchanges(exchanges, depth, known, {"target": target or {}, "read": read}))
    return Conversation(at="exchanges", recorded=recorded, listing=known)


class _UnparsedExchanges:
    """Exchanges that are parsed when they are first read: most processes use no example."""

    def __init__(
        self, exchanges: Sequence[dict[str, Any]], depth: str, listing: Listing | None, members: Mapping[str, Any]
    ) -> None:
        self._unparsed = (exchanges, depth, listing, members)

    @cached_property
    def _parsed(self) -> Exchanges:
        exchanges, depth, listing, members = self._unparsed
        body = build_exchanges_body(*exchanges, depth=depth) | dict(members)
        return Exchanges.parse(json.dumps(body).encode(), listing)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._parsed, name)


def build_exchanges_body(*exchanges: dict[str, Any], depth: str = "full") -> dict[str, Json]:
    connections: list[Json] = []
    rows: list[Json] = []
    for exchange in exchanges:
        connection = exchange[_CONNECTION]
        if connection not in connections:
            connections.append(connection)
        rows.append({**exchange, _CONNECTION: connections.index(connection)})
    return {"target": {}, "depth": depth, "connections": connections, "exchanges": rows}


def legacy_exchange(step: str, *, revision: str = "D", **members: Any) -> dict[str, Any]:
    """One exchange of the legacy era over streamable HTTP; `revision` is a letter of REVISIONS."""
    members.setdefault("offered", "2025-11-25")
    return _exchange(step, era="legacy", negotiated=REVISIONS.get(revision, revision), **members)


def modern_exchange(step: str, **members: Any) -> dict[str, Any]:
    """One exchange of the modern era over streamable HTTP."""
    members.setdefault("offered", "2026-07-28")
    return _exchange(step, era="modern", negotiated="2026-07-28", **members)


def stdio_exchange(step: str, *, revision: str = "D", **members: Any) -> dict[str, Any]:
    made = modern_exchange if revision == "E" else legacy_exchange
    lines: dict[str, Any] = {"transport": "stdio", "verb": "", "status": None, "form": "lines", "headers": {}}
    rest = {} if revision == "E" else {"revision": revision}
    return made(step, **{**lines, **rest, **members})


def _exchange(
    step: str,
    *,
    era: str,
    offered: str,
    negotiated: str,
    transport: str = "streamable-http",
    opened: bool = True,
    session: Mapping[str, Any] | None = None,
    verb: str = "POST",
    sent: Any = None,
    sent_headers: Mapping[str, str] | None = None,
    status: int | None = 200,
    headers: Mapping[str, str] | None = None,
    result: Any = UNDEFINED,
    error: Any = UNDEFINED,
    message: Any = UNDEFINED,
    received: Sequence[Mapping[str, Any]] | None = None,
    form: str = "json",
    utf8: bool = True,
    batch: bool = False,
    ended: bool | None = None,
    failure: tuple[str, str] | None = None,
    page: int = 0,
) -> dict[str, Any]:
    """`result` or `error` makes one response with id 1, `message` any one message, `received` all messages."""
    answer: dict[str, Any] = {"jsonrpc": "2.0", "id": 1}
    given = {name: value for name, value in (("result", result), ("error", error)) if value is not UNDEFINED}
    messages = [{"message": answer | given}] if given else []
    if message is not UNDEFINED:
        messages = [{"message": message}]
    types = {"json": "application/json", "stream": "text/event-stream"}
    return {
        "step": step,
        "page": page,
        _CONNECTION: {
            "transport": transport,
            "era": era,
            "opened": opened,
            "offered": offered,
            "negotiated": negotiated,
            "session": session,
        },
        "verb": verb,
        "sent": {"headers": dict(sent_headers or {}), "message": sent, "text": None},
        "status": status,
        "headers": dict(headers) if headers is not None else {"content-type": types[form]} if form in types else {},
        "form": form,
        "utf8": utf8,
        "batch": batch,
        "ended": ended,
        "received": list(received) if received is not None else messages,
        "failure": {"reason": failure[0], "detail": failure[1]} if failure else None,
    }
