"""The full depth over HTTP: both eras, with the headers and bodies that the inquiries define."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from crawler.collectors.protocol.questions.inquiries import MALFORMED, Headers, Inquiry, ServerFacts
from crawler.collectors.protocol.questions.interview import Interview
from crawler.collectors.protocol.questions.legacy import (
    BATCHING_VERSION,
    batch_inquiry,
    ended_session_inquiry,
    header_inquiries,
    http_openings,
    legacy_inquiries,
    malformed_inquiry,
    session_end_inquiry,
)
from crawler.collectors.protocol.questions.modern import ELSEWHERE, modern_inquiries, other_connection_inquiry
from crawler.collectors.protocol.session.handshake import note_negotiation
from crawler.http.connection import Limits
from crawler.mcp import jsonrpc
from crawler.mcp.channel import MODERN_VERSION, Era
from crawler.mcp.response_reader import STREAM_WATCH_SECONDS
from crawler.mcp.sse import SseChannel
from crawler.mcp.streamable_http import CONTENT, JsonRpcPost, StreamableHttp, is_valid_session_id
from crawler.mcp.transcript import Reply, SessionLink, Transcript

_FIRST_BYTE_SECONDS: Final = 10.0  # seconds until the first byte of an answer to an inquiry
_TOTAL_SECONDS: Final = 15.0  # seconds for the whole answer
_MALFORMED_SECONDS: Final = 3.0  # seconds; a malformed text need not be answered on a stream
_WATCH_SECONDS: Final[Mapping[str, float]] = {
    "stream": 0,
    "get": 0,
    "listen": 3.0,
}  # seconds; these steps get no answer
_WITHOUT_ID: Final = frozenset({"GET", "DELETE"})


class HttpQuestions:
    """Asks a server the inquiries of a full probe over `post`."""

    def __init__(self, post: JsonRpcPost, interview: Interview, transcript: Transcript, client_version: str) -> None:
        self._post = post
        self._interview = interview
        self._transcript = transcript
        self._client_version = client_version

    async def ask_modern(self, channel: StreamableHttp, link: int, facts: ServerFacts) -> None:
        """Everything of the modern era, on the connection `link`; the tools once more on another connection."""
        self._post.tail = STREAM_WATCH_SECONDS
        for inquiry in modern_inquiries(facts, self._client_version, channel.next_id):
            await self._interview.ask(link, inquiry, self._send)
        if facts.declares("tools") and self._interview.wants(Era.MODERN.value, ELSEWHERE):
            self._post.http_session.close()  # no request is pending: the next one opens a new connection
            other = SessionLink(channel.transport, Era.MODERN.value, MODERN_VERSION, True, MODERN_VERSION)
            number = self._transcript.connect(other)
            await self._interview.ask(
                number, other_connection_inquiry(self._client_version, channel.next_id), self._send
            )

    async def ask_legacy(self, channel: StreamableHttp, link: int, facts: ServerFacts) -> None:
        """Everything of the legacy era; ends the session of `channel`."""
        self._post.tail = STREAM_WATCH_SECONDS
        version = self._transcript.links[link].negotiated or ""

        async def send(inquiry: Inquiry) -> Reply:
            own = tuple(channel.legacy_headers(inquiry.label))
            return await self._send(inquiry, own)

        for inquiry in legacy_inquiries(facts, channel.next_id, lists=facts.dual):
            await self._interview.ask(link, inquiry, send)
        for inquiry in header_inquiries(facts, channel.next_id, channel.legacy_headers(facts.question), version):
            await self._interview.ask(link, inquiry, send)
        for offered, inquiry in http_openings(self._client_version):
            await self._open(channel.transport, offered, inquiry)
        await self._interview.ask(link, malformed_inquiry(channel.next_id), send)
        if channel.session is not None:
            await self._end(channel, link, facts)

    async def _open(self, transport: str, offered: str, inquiry: Inquiry) -> None:
        """One more opening on a connection of its own, whose session is ended again."""
        if not self._interview.wants(Era.LEGACY.value, inquiry.step):
            return
        link = SessionLink(transport, Era.LEGACY.value, offered)
        number = self._transcript.connect(link)
        reply = await self._interview.ask(number, inquiry, self._send)
        if reply is None or not note_negotiation(link, reply):
            return
        link.session = reply.exchange.header("mcp-session-id") or None
        headers = _headers(link)
        if link.negotiated == BATCHING_VERSION == offered:
            notification = jsonrpc.encode_notification("notifications/initialized")
            await self._interview.ask(
                number, Inquiry(step="initialized", body=notification, headers=headers), self._send
            )
            await self._interview.ask(number, batch_inquiry(headers), self._send)
        if link.session and is_valid_session_id(link.session):
            limits = self._limits()
            await self._interview.end_session(lambda: self._post.send("DELETE", "DELETE", b"", headers, limits=limits))

    async def _end(self, channel: StreamableHttp, link: int, facts: ServerFacts) -> None:
        headers = channel.legacy_headers(facts.question)
        reply = await self._interview.ask(link, session_end_inquiry(headers), self._send)
        if reply is None:
            return
        channel.session = None
        if reply.status is not None and reply.status < 300:
            await self._interview.ask(link, ended_session_inquiry(facts, channel.next_id, headers), self._send)

    async def _send(self, inquiry: Inquiry, own: Headers = CONTENT) -> Reply:
        answered = inquiry.verb not in _WITHOUT_ID and inquiry.step != "initialized"
        return await self._post.send(
            inquiry.verb,
            inquiry.label or inquiry.step,
            inquiry.body,
            own if inquiry.headers is None else inquiry.headers,
            number=1 if answered else 0,
            limits=self._limits(),
            hear=_WATCH_SECONDS.get(inquiry.step),
        )

    def _limits(self) -> Limits:
        known = self._post.http_session.engine.limits
        return replace(
            known, first_byte=min(known.first_byte, _FIRST_BYTE_SECONDS), total=min(known.total, _TOTAL_SECONDS)
        )


async def ask_over_sse(channel: SseChannel, interview: Interview, link: int, facts: ServerFacts) -> None:
    """Everything that HTTP+SSE carries, which is the legacy era without headers."""

    async def send(inquiry: Inquiry) -> Reply:
        seconds = _MALFORMED_SECONDS if inquiry.step == MALFORMED else _FIRST_BYTE_SECONDS
        return await channel.send_raw(inquiry.label, inquiry.body, seconds=seconds)

    for inquiry in legacy_inquiries(facts, channel.next_id, lists=False):
        await interview.ask(link, inquiry, send)
    await interview.ask(link, malformed_inquiry(channel.next_id), send)


def _headers(link: SessionLink) -> Headers:
    version = (("mcp-protocol-version", link.negotiated),) if link.negotiated else ()
    session = (("mcp-session-id", link.session),) if link.session and is_valid_session_id(link.session) else ()
    return (*CONTENT, *version, *session)
