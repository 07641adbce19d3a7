"""Reader of one HTTP response; keeps the part that was read if reading fails."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from crawler.http.engine import Response
from crawler.http.failures import Malformed, TimedOut, TooLarge, WireFailure
from crawler.http.redaction import Redaction
from crawler.mcp import jsonrpc
from crawler.mcp.event_stream import Event, EventReader
from crawler.mcp.transcript import AnswerForm, Piece, append_pieces, message_piece
from crawler.secret_masking import mask_secrets
from evidence.derive.revealed_secrets import mask_revealed_secrets

MAX_EVENTS: Final = 2_000  # per stream; each event is parsed
STREAM_TAIL: Final = 0.25  # seconds in which a stream may end after its response, so that the connection can be reused
STREAM_WATCH_SECONDS: Final = 3.0  # seconds after which a stream that is still open counts as one that does not end
_STREAM_MARKS: Final = (b"event:", b"data:", b"id:", b":")
_RECORDED_HEADERS: Final = frozenset({"accept", "authorization", "content-type", "host", "origin"})
_MASKED_FROM: Final = 2048  # bytes: a secret that crosses _QUOTED must be seen whole
_QUOTED: Final = 200  # characters
_NUMBER: Final = re.compile(r"[0-9]+")


class ReceivedResponse:
    """The response to one request, or the part of it that was read before a failure.

    `answered`: the event loop's time at which the first byte of the answer arrived, or of the response if it has none.
    `strict`: see `_read_body`. `tail`: seconds to wait for the end of a stream after its response. `hear`: of an event
    stream, read only the first message, for at most this many seconds.
    """

    def __init__(
        self, *, strict: bool, redaction: Redaction | None = None, tail: float = STREAM_TAIL, hear: float | None = None
    ) -> None:
        self._strict = strict
        self._tail = tail
        self._hear = hear
        self._redaction = Redaction() if redaction is None else redaction
        self._cleaner = self._redaction.stream()
        self._parts: list[bytes] = []
        self._events = 0
        self.status: int | None = None
        self.headers: tuple[tuple[str, str], ...] = ()
        self.form = AnswerForm.NONE
        self.batch = False
        self.ended: bool | None = None
        self.answered: float | None = None
        self.pieces: list[Piece] = []

    @property
    def body(self) -> bytes:
        return self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)

    async def read(self, response: Response, number: int) -> jsonrpc.RpcAnswer | None:
        """Read until the response to request `number` is complete; None if the body has none."""
        self.status, self.headers = response.head.status, self._redaction.clean_headers(response.head.headers)
        self.answered = response.arrived
        if response.head.get("content-type").lower().startswith("text/event-stream"):
            self.form = AnswerForm.STREAM
            if self._hear is not None:
                await self._hear_first(response, self._hear)
                return None
            return await self._read_stream(response, number)
        is_blank = True
        while part := await response.read():
            if is_blank and not part.isspace():
                is_blank, self.answered = False, response.arrived
            self._parts.append(self._cleaner.feed(part))
        if rest := self._cleaner.finish():
            self._parts.append(rest)
        body = self.body
        if not body.strip():
            return None
        return self._read_body(body, number, strict=self._strict and self.status == 200 and bool(number))

    def _read_body(self, body: bytes, number: int, *, strict: bool) -> jsonrpc.RpcAnswer | None:
        """The response in a complete body, regardless of its content type.

        `strict`: a body that is neither JSON nor an event stream is a failure (a 200 must have a response); otherwise
        it is an error page that the status explains.
        """
        if body.lstrip()[:6].startswith(_STREAM_MARKS):
            self.form = AnswerForm.STREAM
            return self._take_events([*(reader := EventReader()).feed(body), *reader.finish()], number)
        try:
            messages = jsonrpc.read_messages(body)
        except (Malformed, TooLarge):
            self.form = AnswerForm.OTHER
            self.pieces.append(text_piece(body))
            if strict:
                raise
            return None
        self.form, self.batch = AnswerForm.JSON, jsonrpc.is_batch(body)
        append_pieces(self.pieces, [message_piece(message) for message in messages])
        return jsonrpc.pick_answer(messages, number) if number else None

    async def _read_stream(self, response: Response, number: int) -> jsonrpc.RpcAnswer | None:
        reader = EventReader()
        while part := await response.read():
            self._parts.append(clean := self._cleaner.feed(part))
            if answer := self._take_events(reader.feed(clean, response.arrived), number):
                await self._watch_end(response, reader)
                return answer
        self._parts.append(rest := self._cleaner.finish())
        self.ended = True
        return self._take_events([*reader.feed(rest, response.arrived), *reader.finish()], number)

    def _take_events(self, events: Sequence[Event], number: int) -> jsonrpc.RpcAnswer | None:
        """Store events as pieces and return the first response to `number`. An event may be no JSON."""
        found: jsonrpc.RpcAnswer | None = None
        for event in events:
            self._events += 1
            if self._events > MAX_EVENTS and found is None:
                raise TooLarge(f"more than {MAX_EVENTS} events before the answer")
            messages = read_event_messages(event)
            append_pieces(self.pieces, event_pieces(event, messages))
            if found is None and number and (found := jsonrpc.pick_answer(messages, number)) and event.at:
                self.answered = event.at
        return found

    async def _hear_first(self, response: Response, seconds: float) -> None:
        """Read the first message of a stream on which no response is expected."""
        reader = EventReader()
        try:
            async with asyncio.timeout(seconds):
                while not self.pieces and seconds and (part := await response.read()):
                    self._parts.append(clean := self._cleaner.feed(part))
                    self._take_events(reader.feed(clean), 0)
        except (TimeoutError, TimedOut):
            return

    async def _watch_end(self, response: Response, reader: EventReader) -> None:
        """Wait for the stream to end, so that the connection can be kept; a stream that stays open is closed."""
        try:
            async with asyncio.timeout(self._tail):
                while part := await response.read():
                    if self._tail >= STREAM_WATCH_SECONDS and self._events <= MAX_EVENTS:
                        self._take_events(reader.feed(self._cleaner.feed(part)), 0)
            self.ended = True
        except (TimeoutError, TimedOut):
            self.ended = False if self._tail >= STREAM_WATCH_SECONDS else None
        except WireFailure:
            return


def read_event_messages(event: Event) -> list[jsonrpc.RpcMessage]:
    """The messages in one event; none if it is not JSON."""
    try:
        return jsonrpc.read_messages(event.data)
    except Malformed:
        return []


def event_pieces(event: Event, messages: Sequence[jsonrpc.RpcMessage]) -> list[Piece]:
    """One event as pieces; an event without a message becomes a text."""
    found = [message_piece(message, event=event.name, has_id=event.has_id) for message in messages]
    return found or [text_piece(event.data, event=event.name, has_id=event.has_id)]


def text_piece(data: bytes, *, event: str = "", has_id: bool = False) -> Piece:
    """A text that is not a message, masked, and what it revealed."""
    reveals = mask_revealed_secrets(jsonrpc.decode_text(data[:_MASKED_FROM]))[1]
    return Piece(text=quote_masked(data), reveals=reveals, event=event, has_id=has_id)


def quote_masked(data: bytes) -> str:
    """The beginning of a text that is not a message: secrets masked, each number replaced by 0 (times and ids vary)."""
    return _NUMBER.sub("0", mask_secrets(jsonrpc.decode_text(data[:_MASKED_FROM]))[:_QUOTED])


def select_recorded_headers(headers: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The request headers that rules use; an authorization is recorded as `configured`."""
    return tuple(
        [
            (name, "configured" if name.lower() == "authorization" else value)
            for name, value in headers
            if _is_recorded(name)
        ]
    )


@lru_cache(maxsize=256)
def _is_recorded(name: str) -> bool:
    lower = name.lower()
    return lower.startswith("mcp-") or lower in _RECORDED_HEADERS


def is_utf8(body: bytes) -> bool:
    if body.isascii():
        return True
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
