"""Repeats the first questions to a server without any credential, or with one that cannot be valid."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from crawler.collectors.protocol.access.access_challenge import METHODS, AccessRequest
from crawler.collectors.protocol.session.handshake import supports_modern_version
from crawler.http.engine import HttpSession
from crawler.http.rate_limiting import HostRateLimiter
from crawler.http.url import parse_url
from crawler.mcp.channel import MODERN_VERSION, Channel, Era, initialize_params
from crawler.mcp.sse import SseChannel
from crawler.mcp.streamable_http import JsonRpcPost, StreamableHttp
from crawler.mcp.transcript import Transcript
from evidence.model import Reason, Target, TargetType

_TOOLS: Final = "list-tools"
_VERSION: Final = re.compile(r"[\x21-\x7e]{1,64}")


class UnauthenticatedRequests:
    """Asks with other headers than the probe did. The full text of these exchanges is not recorded."""

    def __init__(
        self, session: HttpSession, target: Target, limiter: HostRateLimiter, *, gapless: bool, client_version: str
    ) -> None:
        self._session = session
        self._target = target
        self._limiter = limiter
        self._gapless = gapless
        self._client_version = client_version
        self.transcript = Transcript()

    async def ask_without_credentials(self, *, over_sse: bool) -> tuple[AccessRequest, ...]:
        """The openings and then tools/list without credentials, until an answer decides."""
        if over_sse:
            return await self._sse("", _TOOLS)
        legacy = await self._legacy(self._streamable(""), _TOOLS)
        if legacy[0].opened:
            return legacy
        channel = self._streamable("")
        modern = await self._discover(channel)
        listed = (await self._list(channel, Era.MODERN, _TOOLS),) if modern.opened else ()
        return (*legacy, modern, *listed)

    async def ask_with_bearer(self, token: str, gate: AccessRequest) -> AccessRequest:
        """The refused question with a token, or an earlier question that is refused on the way to it."""
        if gate.reply.exchange.transport == TargetType.SSE.value:
            answers = await self._sse(token, gate.step)
        elif gate.era == Era.LEGACY.value:
            answers = await self._legacy(self._streamable(token), gate.step)
        elif gate.is_opening:
            modern = await self._discover(channel := self._streamable(token))
            is_unknown_method = modern.refusal is not None and modern.refusal.reason is Reason.NOT_MCP
            # A legacy server does not know `server/discover`; `initialize` shows whether the token was accepted.
            return (await self._legacy(channel, "initialize"))[0] if is_unknown_method else modern
        else:
            return await self._list(self._streamable(token), Era.MODERN, gate.step)
        return next((one for one in answers if one.step == gate.step), answers[-1])

    async def _sse(self, token: str, last: str) -> tuple[AccessRequest, ...]:
        channel = SseChannel(self._post(TargetType.SSE, token))
        try:
            reply = await channel.open()
            first = AccessRequest(step="sse-open", era=Era.LEGACY.value, reply=reply, opened=channel.is_open)
            return (first, *await self._legacy(channel, last)) if channel.is_open and last != first.step else (first,)
        finally:
            await channel.close()

    async def _discover(self, channel: Channel) -> AccessRequest:
        reply = await channel.send_request("server/discover", {}, Era.MODERN)
        opened = reply.result is not None and supports_modern_version(reply.result.value)
        return AccessRequest(
            step="discover",
            era=Era.MODERN.value,
            reply=reply,
            opened=opened,
            version=MODERN_VERSION if opened else None,
        )

    async def _legacy(self, channel: Channel, last: str) -> tuple[AccessRequest, ...]:
        """Initialize; when that opens and is not the `last` step wanted, also request the list."""
        reply = await channel.send_request("initialize", initialize_params(self._client_version), Era.LEGACY)
        result = reply.result.value if reply.result else None
        version = result.get("protocolVersion") if isinstance(result, Mapping) else None
        named = version if isinstance(version, str) and _VERSION.fullmatch(version) else None
        opened = isinstance(result, Mapping)
        opening = AccessRequest(step="initialize", era=Era.LEGACY.value, reply=reply, opened=opened, version=named)
        if not opened:
            return (opening,)
        channel.set_protocol_version(named)
        try:
            if last == opening.step:
                return (opening,)
            await channel.send_notification("notifications/initialized")
            return (opening, await self._list(channel, Era.LEGACY, last))
        finally:
            await channel.close()

    async def _list(self, channel: Channel, era: Era, step: str) -> AccessRequest:
        return AccessRequest(step=step, era=era.value, reply=await channel.send_request(METHODS[step], {}, era))

    def _streamable(self, token: str) -> StreamableHttp:
        return StreamableHttp(self._post(TargetType.STREAMABLE_HTTP, token), self._client_version)

    def _post(self, transport: TargetType, token: str) -> JsonRpcPost:
        declared = [pair for pair in self._target.headers if pair[0].lower() != "authorization"]
        return JsonRpcPost(
            self._session,
            parse_url(self._target.identifier),
            self._limiter,
            self.transcript,
            headers=(*declared, *([("authorization", f"Bearer {token}")] if token else [])),
            transport=transport,
            gapless=self._gapless,
        )
