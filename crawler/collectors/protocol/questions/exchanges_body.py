"""The body of an exchanges record: what was received is spliced in, the rest is our own JSON."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from crawler.collectors.protocol.access.authorization_metadata import mask_url
from crawler.collectors.protocol.json_splicing import JsonText, Spliced, encode_json
from crawler.collectors.protocol.listing.list_walker import ListResult
from crawler.collectors.protocol.questions.inquiries import MALFORMED, UNKNOWN_SESSION
from crawler.collectors.protocol.questions.random_names import RandomNames
from crawler.mcp.transcript import REDIRECTED, Exchange, NamedExchange, Piece, SessionLink, Transcript
from crawler.secret_masking import mask_secrets
from evidence.canonical import Json, NotJson, canonical_digest, parse_json
from evidence.derive.revealed_secrets import mask_revealed_secrets
from evidence.model import Reason, Target

CORE: Final = "core"
FULL: Final = "full"

# Headers that rules use and that are equal in every run.
_RECORDED_HEADERS: Final = (
    *("allow", "cf-mitigated", "content-encoding", "content-type", "location", "mcp-protocol-version"),
    *("mcp-session-id", "x-accel-buffering", "x-endpoint"),
)
_SESSION: Final = "mcp-session-id"
_LONGEST_HEADER: Final = 300
_SHORTEST_SESSION: Final = 8  # characters; a shorter id could be part of another word
_IS_ERROR: Final = b'"isError"'
_ESCAPES: Final = (("\\n", "\x0b"), ("\\r", "\x0c"), ("\\t", "\x1c"))
"""Escapes whose letter would join the word after it, and white space that JSON cannot contain."""
_RESULT_NAME: Final = re.compile(rb'\{?[ \t\r\n]*"result"[ \t\r\n]*:[ \t\r\n]*$')


def exchanges_body(
    target: Target,
    depth: str,
    transcript: Transcript,
    lists: Mapping[str, ListResult],
    names: RandomNames | None = None,
    *,
    read: Sequence[Mapping[str, Json]] = (),
) -> bytes:
    """The bytes of schema 1 (evidence/kinds/exchanges.py). `lists` are those of the listing of the same probe.

    `read` are the rows of that member, which comes last: a full body begins with a core body. `names` are those that
    were sent; the body holds the fixed ones.
    """
    about = {"type": target.type.value, "identifier": target.identifier, "version": target.version}
    writer, links = _Writer(transcript, lists, names, find_equal=depth == FULL), transcript.links
    return encode_json(
        {
            "target": about,
            "depth": depth,
            "connections": [_link(links, at, names) for at in range(len(links))],
            "exchanges": [writer.row(index, row) for index, row in enumerate(transcript.rows)],
            **({"read": read} if read else {}),
        }
    )


class _Writer:
    """Writes rows, and refers to results that were already written. `find_equal`: also to those in the listing."""

    def __init__(
        self,
        transcript: Transcript,
        lists: Mapping[str, ListResult],
        names: RandomNames | None,
        *,
        find_equal: bool,
    ) -> None:
        self._lists = lists
        self._names = names
        self._find_equal = find_equal
        self._known: dict[str, int] = {}
        self._assigned = _sessions(transcript, names)
        self._sessions = {one: name for one, name in self._assigned.items() if len(one) >= _SHORTEST_SESSION}

    def row(self, index: int, row: NamedExchange) -> Mapping[str, Spliced]:
        exchange = row.exchange
        failure = exchange.failure
        reason, detail = (failure.reason, failure.detail) if failure else (None, "")
        if reason is None and any(_is_lost(piece) for piece in exchange.received):
            reason, detail = Reason.TOO_LARGE, "a message of more bytes than the transcript keeps"
        headers = {name: value for name, value in exchange.headers if name in _RECORDED_HEADERS}
        return {
            "step": row.step,
            "page": row.page,
            "connection": row.link,
            "verb": exchange.verb,
            "sent": self._sent(row.step, exchange),
            "status": exchange.status,
            "headers": self._headers([(name, headers[name]) for name in _RECORDED_HEADERS if name in headers]),
            "form": exchange.form.value,
            "utf8": exchange.utf8,
            "batch": exchange.batch,
            "ended": exchange.ended,
            "received": [self._piece(index, row, piece) for piece in exchange.received],
            "failure": {"reason": reason.value, "detail": detail} if reason else None,
        }

    def _sent(self, step: str, exchange: Exchange) -> Mapping[str, Spliced]:
        # The redirected question may be the malformed one.
        broken = step == MALFORMED or (step == REDIRECTED and not _is_json(exchange.request))
        request = self._restore(exchange.request)
        text = request.decode("utf-8", "replace") if broken and request else None
        message = None if broken or not request else JsonText(request)
        return {"headers": self._headers(exchange.sent), "message": message, "text": text}

    def _headers(self, headers: Iterable[tuple[str, str]]) -> Mapping[str, Json]:
        recorded: dict[str, Json] = {}
        for name, value in headers:
            if value:
                shown = mask_url(mask_secrets(value)) if name == "location" else value
                if name.lower() == _SESSION:
                    shown = self._assigned.get(value, value)
                recorded[name] = self._without_sessions(shown)[:_LONGEST_HEADER]
        return recorded

    def _piece(self, index: int, row: NamedExchange, piece: Piece) -> Mapping[str, Spliced]:
        event: dict[str, Spliced] = {"event": piece.event, "id": piece.has_id} if piece.event else {}
        if piece.reveals:
            event["reveals"] = piece.reveals
        if piece.text is not None or _is_lost(piece):
            return {"text": self._without_sessions(piece.text or ""), **event}
        if not piece.size:
            return self._message(piece.before, row, event)
        place = self._place(index, row, piece)
        if place is None and piece.result is not None:
            if _IS_ERROR in piece.result:
                return self._message(piece.before + piece.result + piece.after, row, event)
            return {"message": self._clean(piece.before + piece.result + piece.after), **event}
        bare = self._clean(_without_result(piece.before, piece.after))
        return {"message": bare, **event, **(place or {"too_large": piece.size})}

    def _message(self, message: bytes, row: NamedExchange, event: Mapping[str, Spliced]) -> Mapping[str, Spliced]:
        """An error or another message without a result, and what it revealed before it was masked."""
        masked, reveals = _mask_revealed(message, row.exchange.request)
        return {"message": self._clean(masked), **event, **({"reveals": reveals} if reveals else {})}

    def _place(self, index: int, row: NamedExchange, piece: Piece) -> Mapping[str, Json] | None:
        """Where the result was already written; None when it must be written here."""
        name = row.step.removeprefix("list-")
        pages = self._lists[name].pages if name in self._lists else []
        listed = row.page < len(pages) and (piece.result == pages[row.page] or _same(piece, pages[row.page]))
        if listed and not self._find_equal:
            return {"listed": [name, row.page]}
        digest = (canonical_digest(piece.result) if piece.result is not None else None) or piece.digest
        is_only_answer = (
            sum(one.is_answer for one in row.exchange.received) == 1
        )  # else a reader could use the other answer
        first = self._known.setdefault(digest, index) if digest and is_only_answer else index
        if listed:
            return {"listed": [name, row.page]}
        return {"same_as": first} if first < index else None

    def _restore(self, data: bytes) -> bytes:
        return self._names.restore_bytes(data) if self._names else data

    def _clean(self, data: bytes) -> JsonText:
        """A message without session ids."""
        data = cleaned = self._restore(data)
        for session, name in self._sessions.items():
            cleaned = cleaned.replace(session.encode("utf-8", "replace"), name.encode())
        is_intact = cleaned == data or _is_json(cleaned)  # a session id may be part of the JSON syntax
        return JsonText(cleaned if is_intact else data)

    def _without_sessions(self, text: str) -> str:
        if not self._sessions and self._names is None:
            return text
        for session, name in self._sessions.items():
            text = text.replace(session, name)
        return self._names.restore(text) if self._names else text


def _sessions(transcript: Transcript, sent: RandomNames | None) -> dict[str, str]:
    """The replacement for each session id: the connection to which it was assigned, if any."""
    names = {
        link.session: f"session {number}"
        for number, link in reversed(list(enumerate(transcript.links)))
        if link.session
    }
    for row in transcript.rows:
        session = row.exchange.header(_SESSION)
        if session and not (sent and sent.restore(session) == UNKNOWN_SESSION):
            names.setdefault(session, "another session")
    return names


def _link(links: Sequence[SessionLink], number: int, names: RandomNames | None) -> Json:
    link = links[number]
    session: Json = None
    if link.session:
        earlier = (at for at in range(number) if links[at].session == link.session)
        visible = link.session.isascii() and link.session.isprintable() and " " not in link.session
        session = {"length": len(link.session), "visible": visible, "same_as": next(earlier, None)}
    return {
        "transport": link.transport,
        "era": link.era,
        "opened": link.opened,
        "offered": link.offered,
        "negotiated": names.restore(link.negotiated) if names and link.negotiated else link.negotiated,
        "session": session,
    }


def _is_json(data: bytes) -> bool:
    try:
        parse_json(data)
    except NotJson:
        return False
    return True


def _is_lost(piece: Piece) -> bool:
    return piece.text is None and not piece.before


def _mask_revealed(message: bytes, sent: bytes) -> tuple[bytes, str]:
    """A message with revealed values masked, and what it revealed."""
    text = message.decode("utf-8", "surrogateescape")
    for escape, space in _ESCAPES:
        text = text.replace(escape, space)
    masked, reveals = mask_revealed_secrets(text, sent.decode("utf-8", "replace"))
    if not reveals:
        return message, ""
    for escape, space in _ESCAPES:
        masked = masked.replace(space, escape)
    return masked.encode("utf-8", "surrogateescape"), reveals


def _same(piece: Piece, page: bytes) -> bool:
    return piece.result is None and piece.size == len(page)


def _without_result(before: bytes, after: bytes) -> bytes:
    """The message as it was received, without its member `result`."""
    cut = _RESULT_NAME.search(before)
    if cut is None:  # the name has escape sequences
        return b'{"jsonrpc":"2.0"}'
    head = before[: cut.start()].rstrip(b" \t\r\n") or b"{"
    tail = after.lstrip(b" \t\r\n")
    if tail.startswith(b","):
        tail = tail[1:]
    elif head.endswith(b","):
        head = head[:-1]
    return head + tail if head.endswith((b"{", b",")) or tail.startswith(b"}") else head + b"," + tail
