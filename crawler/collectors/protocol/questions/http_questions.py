"""The full depth over HTTP: both eras, with the headers and bodies that the inquiries define."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final, Protocol

from msgspec.structs import replace

from crawler.collectors.protocol.questions.inquiries import MALFORMED, Headers, Inquiry, Risk, ServerFacts
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
    sse_origin_inquiries,
)
from crawler.collectors.protocol.questions.modern import modern_inquiries, other_connection_inquiry
from crawler.collectors.protocol.session.handshake import Opened, note_negotiation
from crawler.http.connection import Limits
from crawler.mcp import jsonrpc
from crawler.mcp.channel import MODERN_VERSION, Era
from crawler.mcp.response_reader import STREAM_WATCH_SECONDS
from crawler.mcp.sse import SseChannel
from crawler.mcp.streamable_http import CONTENT, StreamableHttp, is_valid_session_id
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


class Questioning(Protocol):
    """The inquiries of one opened era, asked in the order of their risk."""

    async def ask(self, risk: Risk) -> None:
        """Ask the inquiries of this risk."""
        ...

    async def end(self) -> None:
        """Ask what ends the session."""
        ...


class HttpQuestions:
    """Asks a server the inquiries of a full probe over `post`."""

    def __init__(
        self,
        channel: StreamableHttp,
        interview: Interview,
        transcript: Transcript,
        *,
        link: int,
        facts: ServerFacts,
    ) -> None:
        self._post = channel.post
        self._post.tail = STREAM_WATCH_SECONDS
        self._interview = interview
        self._transcript = transcript
        self._channel = channel
        self._link = link
        self._facts = facts

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


class ModernQuestions(HttpQuestions):
    """Everything of the modern era, on the connection `link`; the tools once more on another connection."""

    def __init__(
        self,
        channel: StreamableHttp,
        interview: Interview,
        transcript: Transcript,
        client_version: str,
        *,
        link: int,
        facts: ServerFacts,
    ) -> None:
        super().__init__(channel, interview, transcript, link=link, facts=facts)
        self._inquiries = list(modern_inquiries(facts, client_version, channel.next_id))
        self._elsewhere = other_connection_inquiry(client_version, channel.next_id)

    async def ask(self, risk: Risk) -> None:
        for inquiry in self._inquiries:
            if inquiry.risk is risk:
                await self._interview.ask(self._link, inquiry, self._send)
        is_wanted = risk is self._elsewhere.risk and self._interview.wants(Era.MODERN.value, self._elsewhere)
        if self._facts.declares("tools") and is_wanted:
            self._post.http_session.close()  # no request is pending: the next one opens a new connection
            other = SessionLink(self._channel.transport, Era.MODERN.value, MODERN_VERSION, True, MODERN_VERSION)
            number = self._transcript.connect(other)
            await self._interview.ask(number, self._elsewhere, self._send)

    async def end(self) -> None:
        """Nothing: the era has no sessions."""


class LegacyQuestions(HttpQuestions):
    """Everything of the legacy era; ends the session of `channel`."""

    def __init__(
        self,
        channel: StreamableHttp,
        interview: Interview,
        transcript: Transcript,
        client_version: str,
        *,
        link: int,
        facts: ServerFacts,
    ) -> None:
        super().__init__(channel, interview, transcript, link=link, facts=facts)
        headers, version = channel.legacy_headers(facts.question), transcript.links[link].negotiated or ""
        self._inquiries = [
            *legacy_inquiries(facts, channel.next_id, lists=facts.dual),
            *header_inquiries(facts, channel.next_id, headers, version),
        ]
        self._openings = list(http_openings(client_version, facts))
        self._malformed = malformed_inquiry(channel.next_id)

    async def ask(self, risk: Risk) -> None:
        for inquiry in self._inquiries:
            if inquiry.risk is risk:
                reply = await self._interview.ask(self._link, inquiry, self._send_on_session)
                if reply is not None and inquiry.step == "session-missing":
                    await self._channel.end_stray_session(reply)
        for offered, inquiry in self._openings:
            if inquiry.risk is risk:
                await self._open(offered, inquiry)
        if self._malformed.risk is risk:
            await self._interview.ask(self._link, self._malformed, self._send_on_session)

    async def end(self) -> None:
        """End the session, and ask once more on it."""
        if not self._channel.may_end_session:
            return
        headers = self._channel.legacy_headers(self._facts.question)
        reply = await self._interview.ask(self._link, session_end_inquiry(headers), self._send)
        if reply is None:
            return
        self._channel.session = None
        if reply.status is not None and reply.status < 300:
            inquiry = ended_session_inquiry(self._facts, self._channel.next_id, headers)
            await self._interview.ask(self._link, inquiry, self._send)

    async def _send_on_session(self, inquiry: Inquiry) -> Reply:
        return await self._send(inquiry, tuple(self._channel.legacy_headers(inquiry.label)))

    async def _open(self, offered: str, inquiry: Inquiry) -> None:
        """One more opening on a connection of its own, whose session is ended again where that is harmless."""
        if not self._interview.wants(Era.LEGACY.value, inquiry):
            return
        link = SessionLink(self._channel.transport, Era.LEGACY.value, offered)
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
        # The version of the first opening counts: newer servers agree to an old version that is offered.
        if self._channel.may_end_session and link.session and is_valid_session_id(link.session):
            end = partial(self._post.send, "DELETE", "DELETE", b"", headers, limits=self._limits())
            await self._interview.end_session(Era.LEGACY.value, end)


class SseQuestions:
    """Everything that HTTP+SSE carries: the legacy era, and the headers `Origin` and `Host`."""

    def __init__(self, channel: SseChannel, interview: Interview, *, link: int, facts: ServerFacts) -> None:
        self._channel = channel
        self._interview = interview
        self._link = link
        self._facts = facts

    async def ask(self, risk: Risk) -> None:
        for inquiry in self._inquiries():  # made one by one: an answer must have the id that was reserved last
            if inquiry.risk is risk:
                await self._interview.ask(self._link, inquiry, self._send)

    async def end(self) -> None:
        """Nothing: closing the stream ends the session."""

    def _inquiries(self) -> Iterator[Inquiry]:
        yield from legacy_inquiries(self._facts, self._channel.next_id, lists=False)
        yield from sse_origin_inquiries(self._facts, self._channel.next_id)
        yield malformed_inquiry(self._channel.next_id)

    async def _send(self, inquiry: Inquiry) -> Reply:
        seconds = _MALFORMED_SECONDS if inquiry.step == MALFORMED else _FIRST_BYTE_SECONDS
        return await self._channel.send_raw(inquiry.label, inquiry.body, inquiry.headers or CONTENT, seconds=seconds)


def choose_questions(
    opened: Sequence[Opened], interview: Interview, client_version: str, *, listen: bool, paged: tuple[str, ...]
) -> list[Questioning]:
    """The questions to a server in each era in which it opened; `listen` and `paged` as in the facts of a server."""
    chosen: list[Questioning] = []
    for each in opened:
        channel, link = each.dialogue.channel, each.dialogue.link(each.era)
        post = channel.post if isinstance(channel, StreamableHttp | SseChannel) else None
        facts = ServerFacts(
            era=each.era,
            capabilities=each.capabilities,
            dual=len(opened) > 1,
            paged=paged,
            listen=listen,
            origin=f"{post.url.origin.scheme}://{post.url.origin.authority}" if post else "",
            local=post is not None and post.gapless,
        )
        if isinstance(channel, SseChannel):
            chosen.append(SseQuestions(channel, interview, link=link, facts=facts))
        elif isinstance(channel, StreamableHttp):
            make = ModernQuestions if each.era is Era.MODERN else LegacyQuestions
            transcript = each.dialogue.transcript
            chosen.append(make(channel, interview, transcript, client_version, link=link, facts=facts))
    return chosen


def _headers(link: SessionLink) -> Headers:
    version = (("mcp-protocol-version", link.negotiated),) if link.negotiated else ()
    session = (("mcp-session-id", link.session),) if link.session and is_valid_session_id(link.session) else ()
    return (*CONTENT, *version, *session)
