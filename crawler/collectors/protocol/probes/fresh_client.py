"""Opens a server as a client that is new to it, to see whether it serves; nothing of that is recorded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from crawler.collectors.protocol.questions.fall_watch import END, FallWatch
from crawler.collectors.protocol.session.dialogue import QuestionBudget
from crawler.collectors.protocol.session.handshake import Opened
from crawler.http.failures import TimedOut
from crawler.mcp.channel import Era, initialize_params
from crawler.mcp.sse import SseChannel
from crawler.mcp.streamable_http import JsonRpcPost, StreamableHttp
from crawler.mcp.transcript import Reply, Transcript
from evidence.model import TargetType

MakePost: TypeAlias = Callable[[TargetType, Transcript], JsonRpcPost]

_LEAVE_SECONDS: Final = 2.0  # seconds for the end of a session that only tested whether the server serves


class FreshClient:
    """Opens one server; `seconds` bound the answers of a server that opened in half of them. `opened` counts openings.

    The end of each session is noted in `watch`, unless `ends_sessions` is false.
    """

    def __init__(self, make_post: MakePost, client_version: str, watch: FallWatch, *, seconds: float) -> None:
        self._make_post = make_post
        self._client_version = client_version
        self._watch = watch
        self._seconds = seconds
        self.ends_sessions = True
        self.opened = 0

    def seconds_for(self, opened: Opened) -> float:
        """The time in seconds that an answer may take: at least twice that of the first opening."""
        return max(self._seconds, 2 * opened.seconds)

    async def open(self, opened: Opened, budget: QuestionBudget) -> Reply:
        """Open in the era and over the transport of `opened`, and leave; charges the budget."""
        unrecorded, is_sse = Transcript(), isinstance(opened.dialogue.channel, SseChannel)
        post = self._make_post(TargetType.SSE if is_sse else TargetType.STREAMABLE_HTTP, unrecorded)
        try:
            return await (self._open_stream if is_sse else self._open_session)(post, opened)
        finally:
            self.opened += 1
            budget.charge_all(unrecorded.exchanges)

    async def _open_stream(self, post: JsonRpcPost, opened: Opened) -> Reply:
        channel = SseChannel(post)
        try:
            reply = await channel.open()
            if not channel.is_open:
                return reply
            params, seconds = initialize_params(self._client_version), self.seconds_for(opened)
            return await channel.send_request("initialize", params, Era.LEGACY, seconds=seconds)
        finally:
            await channel.close()

    async def _open_session(self, post: JsonRpcPost, opened: Opened) -> Reply:
        channel, seconds = StreamableHttp(post, self._client_version), self.seconds_for(opened)
        if opened.era is Era.MODERN:
            return await channel.send_request("server/discover", {}, Era.MODERN, seconds=seconds)
        params = initialize_params(self._client_version)
        reply = await channel.send_request("initialize", params, Era.LEGACY, seconds=seconds)
        channel.set_protocol_version(opened.version)
        if self.ends_sessions and channel.may_end_session:
            await channel.close(seconds=_LEAVE_SECONDS)
            last = post.transcript.exchanges[-1]
            self._watch.note(f"{Era.LEGACY.value}/{END}", Reply(last))
            self.ends_sessions = not isinstance(last.failure, TimedOut)  # each one would cost as long
        return reply
