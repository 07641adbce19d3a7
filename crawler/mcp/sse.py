"""MCP over HTTP+SSE (2024-11-05): all responses on one event stream, requests POSTed to the URL that it names."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import structs

from crawler.http.engine import Request, Response
from crawler.http.failures import InvalidTarget, Malformed, TimedOut, TooLarge, Unreachable, WireFailure
from crawler.mcp import jsonrpc
from crawler.mcp.channel import Era
from crawler.mcp.event_stream import Event, EventReader
from crawler.mcp.response_reader import MAX_EVENTS, event_pieces, is_utf8, read_event_messages, select_recorded_headers
from crawler.mcp.streamable_http import CONTENT, JsonRpcPost
from crawler.mcp.transcript import AnswerForm, Exchange, Piece, Reply, append_pieces, select_kept_headers
from evidence.canonical import Json
from evidence.model import TargetType

_ACCEPT: Final = (("accept", "text/event-stream"), ("cache-control", "no-cache"))


class SseChannel:
    """The channel of an HTTP+SSE server. Call `open` first; requests are possible once `is_open` is true."""

    transport: Final = TargetType.SSE.value

    def __init__(self, post: JsonRpcPost) -> None:
        self.post = post
        self._number = 0
        self._answered = 0.0  # the event loop's time at which the answer to the last request arrived
        self._stream: Response | None = None
        self._reader = EventReader()
        self._events: deque[Event] = deque()
        self._seen = 0
        self._received: list[bytes] = []
        self._pieces: list[Piece] = []
        self._cleaner = post.redaction.stream()
        self._endpoint = "none"
        self.session: str | None = None
        self.assigned: str | None = None

    def set_protocol_version(self, version: str | None) -> None:
        """Do nothing: this transport names no version after initialize."""

    async def open(self) -> Reply:
        """GET the stream and wait for its endpoint event; sets `is_open` on success.

        One redirect (307, 308, same origin) is followed, such as the one that adds a slash.
        """
        reply = await self._get_stream()
        if self.post.follow_redirect(reply):
            await self.close()
            reply = await self._get_stream()
        return reply

    async def _get_stream(self) -> Reply:
        began = self.post.now()
        failure: WireFailure | None = None
        limits = self.post.http_session.engine.limits
        try:
            # Silence is normal on this stream, so only the time of the session bounds it.
            total = self.post.http_session.seconds or limits.total
            stream_limits = structs.replace(limits, between_bytes=total, total=total)
            request = Request("GET", self.post.url, (*self.post.sent_headers(), *_ACCEPT), b"", stream_limits)
            async with self.post.host_slot():
                began = self.post.now()  # the wait for the rate limit is not the server's time
                self._stream = await self.post.http_session.open(request)
            self._answered = self._stream.arrived
            await self._read_endpoint(self._stream, limits.first_byte)
        except WireFailure as error:
            failure = await self._attribute(error)
        return Reply(self._record("GET", b"", began, failure, self._opening(began)))

    @property
    def is_open(self) -> bool:
        """True after the stream has named an endpoint on its own origin."""
        return self._number > 0

    async def send_request(
        self, method: str, params: Mapping[str, Json], era: Era, *, seconds: float | None = None
    ) -> Reply:
        """POST a request and wait for its response on the stream. This transport exists in the legacy era only."""
        self._number += 1
        return await self.send_raw(method, jsonrpc.encode_request(self._number, method, params), seconds=seconds)

    async def send_raw(
        self, label: str, body: bytes, headers: Sequence[tuple[str, str]] = CONTENT, *, seconds: float | None = None
    ) -> Reply:
        """POST an encoded request; its response arrives on the stream or in the response to the POST."""
        number = self._number
        accepted = await self.post.send("POST", label, body, headers, number=number, strict=False)
        began = accepted.exchange.began
        if accepted.failure or accepted.answer or (accepted.status or 0) >= 300:
            return accepted
        failure: WireFailure | None = None
        answer: jsonrpc.RpcAnswer | None = None
        try:
            answer = await self._await_answer(number, seconds or self.post.http_session.engine.limits.first_byte)
        except WireFailure as error:
            failure = await self._attribute(error)
        return Reply(self._record(label, body, began, failure, accepted.exchange), answer)

    def next_id(self) -> int:
        self._number += 1
        return self._number

    async def send_notification(self, method: str) -> None:
        await self.post.send("POST", method, jsonrpc.encode_notification(method), CONTENT)

    async def close(self) -> None:
        """Close the stream, which ends the session."""
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    async def _read_endpoint(self, stream: Response, seconds: float) -> None:
        if stream.head.status != 200:
            return
        if not stream.head.get("content-type").lower().startswith("text/event-stream"):
            raise Malformed("GET is not answered with an event stream")
        try:
            async with asyncio.timeout(seconds):
                event = await self._next_event()
                while event.name != "endpoint":
                    append_pieces(self._pieces, event_pieces(event, read_event_messages(event)))
                    event = await self._next_event()
        except TimeoutError as error:
            raise TimedOut(
                f"the event stream opened with HTTP 200, but named no endpoint {_within(seconds)}"
            ) from error
        self._answered = event.at
        self._pieces.append(Piece(text="", event=event.name, has_id=event.has_id))
        try:
            endpoint = self.post.url.join(event.data.decode("utf-8", "replace").strip())
        except InvalidTarget as error:
            raise Malformed("the stream names no valid endpoint") from error
        self._endpoint = "same-origin" if endpoint.origin == self.post.url.origin else "other-origin"
        if endpoint.origin != self.post.url.origin:
            raise Malformed("the stream names an endpoint on another origin")
        self.post.url = endpoint
        self._number = 1  # ids start at 2, so that a wrong id 1 is noticed

    async def _attribute(self, failure: WireFailure) -> WireFailure:
        await self.post.http_session.attribute_failure(failure, self.post.url.origin.host)
        return failure

    async def _await_answer(self, number: int, seconds: float) -> jsonrpc.RpcAnswer:
        try:
            async with asyncio.timeout(seconds):
                while True:
                    event = await self._next_event()
                    messages = read_event_messages(event)
                    append_pieces(self._pieces, event_pieces(event, messages))
                    if answer := jsonrpc.pick_answer(messages, number, spent=number - 1):
                        self._answered = event.at
                        return answer
        except TimeoutError as error:
            raise TimedOut(f"the server accepted the question, but sent no answer {_within(seconds)}") from error

    async def _next_event(self) -> Event:
        while not self._events:
            if self._stream is None:
                raise Unreachable("the stream is closed", connected=True)
            if not (part := await self._stream.read()):
                raise Unreachable("the stream ended before the answer", connected=True)
            self._received.append(clean := self._cleaner.feed(part))
            self._events.extend(self._reader.feed(clean, self._stream.arrived))
        self._seen += 1
        if self._seen > MAX_EVENTS:
            raise TooLarge(f"more than {MAX_EVENTS} events")
        return self._events.popleft()

    def _opening(self, began: float) -> Exchange:
        """The exchange of the GET; the header `x-endpoint`, which we add, tells whose origin the endpoint has."""
        head = self._stream.head if self._stream else None
        headers = select_kept_headers(self.post.redaction.clean_headers(head.headers)) if head else ()
        return Exchange(
            transport=self.transport,
            method="GET",
            request=b"",
            began=began,
            seconds=0,
            verb="GET",
            sent=select_recorded_headers(_ACCEPT),
            status=head.status if head else None,
            headers=(*headers, ("x-endpoint", self._endpoint)),
        )

    def _record(
        self, method: str, body: bytes, began: float, failure: WireFailure | None, request_exchange: Exchange
    ) -> Exchange:
        """Record what the stream received, as the response to `request_exchange`."""
        received = b"".join(self._received)
        exchange = structs.replace(
            request_exchange,
            method=method,
            request=body,
            began=began,
            seconds=max(0.0, self.post.at(self._answered) - began) if failure is None else self.post.now() - began,
            body=received,
            form=AnswerForm.STREAM if self._pieces else request_exchange.form,
            utf8=is_utf8(received),
            received=tuple(self._pieces),
            failure=failure,
        )
        self._received, self._pieces = [], []
        self.post.transcript.add(exchange)
        return exchange


def _within(seconds: float) -> str:
    return f"within {seconds:g} s"
