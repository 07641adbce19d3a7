"""A bounded view of the transcript for pages: each request with its response, cut. Templates escape the texts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from evidence.canonical import Json
from evidence.kinds import exchanges
from evidence.kinds.exchanges import Connection, Exchange, Exchanges, Received
from evidence.model import Dossier
from publish.text.redaction import redact_text
from publish.views.evidence.server import MultilineText

MAX_TURNS = 120
MAX_RECEIVED = 4
QUESTION_LIMIT = 500
ANSWER_LIMIT = 700

# What every request over HTTP says; any other value is worth showing.
_USUAL: Final = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
_SESSION: Final = re.compile(r"session \d+|another session")


class ExchangeView(Struct, frozen=True):
    """One request with its responses. `at` is the path that findings use, equal for all pages of one list."""

    anchor: str
    number: int
    at: str
    step: str
    on: str
    request: str
    sent_headers: tuple[tuple[str, str], ...]
    sent: MultilineText
    outcome: str
    headers: tuple[tuple[str, str], ...]
    received: tuple[MultilineText, ...]
    notes: tuple[str, ...]


class TranscriptView(Struct, frozen=True):
    """The transcript for a page; `places` has the anchor of each path that findings use."""

    turns: tuple[ExchangeView, ...]
    more: int
    places: Mapping[str, str]


def view_transcript(dossier: Dossier, first: int = 0, most: int = MAX_TURNS) -> TranscriptView | None:
    """The transcript from the exchange with index `first`; None if it is absent or cannot be parsed."""
    talk = dossier.parsed(exchanges.KIND, Exchanges.parse)
    if talk is None:
        return None
    turns = tuple(_turn(exchange) for exchange in talk.exchanges[first : first + most])
    places = {turn.at: turn.anchor for turn in reversed(turns)}
    return TranscriptView(turns, max(0, len(talk.exchanges) - first - len(turns)), places)


def locate_exchanges(dossier: Dossier) -> Mapping[str, int]:
    """The number of the first exchange at each path, counted from 1."""
    talk = dossier.parsed(exchanges.KIND, Exchanges.parse)
    return {} if talk is None else {one.at: one.index + 1 for one in reversed(talk.exchanges)}


def _turn(exchange: Exchange) -> ExchangeView:
    return ExchangeView(
        anchor=f"exchange-{exchange.index + 1}",
        number=exchange.index + 1,
        at=exchange.at,
        step=f"{exchange.step}, page {exchange.page + 1}" if exchange.page else exchange.step,
        on=_connection(exchange.connection),
        request=" ".join(part for part in (exchange.verb, _method(exchange.sent)) if part) or "not a message",
        sent_headers=tuple((name, value) for name, value in exchange.sent_headers.items() if _USUAL.get(name) != value),
        sent=MultilineText("") if exchange.sent is None else _quoted(exchange.sent, QUESTION_LIMIT),
        outcome=_outcome(exchange),
        headers=tuple((name, _header(name, value)) for name, value in exchange.headers.items()),
        received=tuple(_received(one) for one in exchange.received[:MAX_RECEIVED]),
        notes=tuple(_notes(exchange)),
    )


def _connection(connection: Connection) -> str:
    version = connection.negotiated or connection.offered
    parts = (f"connection {connection.index + 1}", connection.transport, f"{connection.era} era", version)
    return ", ".join(part for part in parts if part)


def _method(sent: Json) -> str:
    if isinstance(sent, list):
        return f"batch of {len(sent)}"
    method = sent.get("method") if isinstance(sent, Mapping) else None
    return method if isinstance(method, str) else ""


def _outcome(exchange: Exchange) -> str:
    parts = [f"HTTP {exchange.status}"] if exchange.status is not None else []
    if exchange.failure:
        parts.append(exchange.failure.replace("_", " "))
    elif exchange.error is not None:
        parts.append("error" if exchange.code is None else f"error {exchange.code}")
    elif exchange.succeeded or exchange.answer:
        parts.append("result")
    return ", ".join(parts) or "no answer"


def _header(name: str, value: str) -> str:
    """Session ids shorter than eight characters are not replaced when recorded, so they are hidden here."""
    is_id = name == "mcp-session-id" and not _SESSION.fullmatch(value)
    return "a short session id" if is_id else redact_text(value)


def _received(one: Received) -> MultilineText:
    if one.message is None:
        return _cut(one.text, ANSWER_LIMIT)
    event = f"event {one.event}: " if one.event not in {"", "message"} else ""
    where = ""
    if one.missing:
        too_large = one.missing.startswith("too_large")
        where = " (the result was too large to store)" if too_large else " (the result is among the lists above)"
    return MultilineText(f"{event}{_quoted(one.message, ANSWER_LIMIT)}{where}")


def _notes(exchange: Exchange) -> Iterator[str]:
    if exchange.detail:
        yield exchange.detail
    if exchange.batch:
        yield "The answer is a batch."
    if not exchange.utf8:
        yield "The answer is not UTF-8."
    if exchange.ended is False:
        yield "The stream, or the process, did not end soon after its last answer."
    if (more := len(exchange.received) - MAX_RECEIVED) > 0:
        yield f"{more} more messages were received."


def _quoted(value: Json, limit: int) -> MultilineText:
    return _cut(json.dumps(value, ensure_ascii=False, separators=(", ", ": ")), limit)


def _cut(text: str, limit: int) -> MultilineText:
    """At most `limit` characters, with apparent secrets masked: an error message may quote credentials."""
    masked = redact_text(text[: 2 * limit])
    cut = len(text) - limit
    return MultilineText(f"{masked[:limit]}… ({cut:,} more characters)" if cut > 0 else masked)
