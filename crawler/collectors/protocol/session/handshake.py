"""The handshake of both eras: opens a server and reads what it declares about itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from crawler.collectors.protocol.session.dialogue import Dialogue
from crawler.mcp.channel import LEGACY_VERSION, MODERN_VERSION, Era, initialize_params
from crawler.mcp.jsonrpc import RpcAnswer
from crawler.mcp.transcript import Reply, SessionLink
from evidence.canonical import Json

# A 4xx that an HTTP+SSE server answers to a POST (2025-11-25 transports, "Backwards Compatibility").
SSE_FALLBACK: Final = frozenset({400, 404, 405, 406, 411})
UNSUPPORTED_VERSION: Final = -32022
"""The error code of an MCP server for a version that it does not support (2026-07-28, versioning)."""

_LONGEST_VERSION: Final = 100
_VERSION: Final = re.compile(r"[\x21-\x7e]{1,64}")


class Opened(Struct, frozen=True):
    """A server that opened; `answer` holds the result of initialize or server/discover, which took `seconds`."""

    dialogue: Dialogue
    era: Era
    version: str | None
    answer: RpcAnswer
    seconds: float

    @property
    def capabilities(self) -> Mapping[str, Json] | None:
        """Declared capabilities; None when they are missing or not an object."""
        value = self.answer.value.get("capabilities") if isinstance(self.answer.value, Mapping) else None
        return value if isinstance(value, Mapping) else None


class OpeningRefused(Struct, frozen=True):
    """A server that did not open, with the last reply."""

    reply: Reply
    asked: str


async def discover(
    dialogue: Dialogue, *, retry: bool, link: int | None = None, patient: bool = False
) -> Opened | OpeningRefused:
    """Try the modern era. A refusal proves nothing about the legacy era unless the host was not even reached.

    `link` is a connection that was begun already. With `patient` the answer may take as long as any other, not only the
    short time after which the legacy era is tried.
    """
    seconds = None if patient else dialogue.limits.discover
    dialogue.connect(Era.MODERN, MODERN_VERSION, link=link)
    reply = await dialogue.ask("server/discover", {}, Era.MODERN, seconds=seconds, retry=False)
    if retry and reply.failure and not reply.failure.connected and reply.failure.transient:
        await dialogue.pause_before_retry()
        reply = await dialogue.ask("server/discover", {}, Era.MODERN, seconds=seconds, retry=False)
    if reply.result and supports_modern_version(reply.result.value):
        dialogue.opened(Era.MODERN, MODERN_VERSION)
        return Opened(dialogue, Era.MODERN, MODERN_VERSION, reply.result, reply.exchange.seconds)
    return OpeningRefused(reply, "server/discover")


async def initialize(dialogue: Dialogue, client_version: str, *, link: int | None = None) -> Opened | OpeningRefused:
    """Try the legacy era and, when it opens, send `initialized`. `link` is a connection that was begun already."""
    dialogue.connect(Era.LEGACY, LEGACY_VERSION, link=link)
    reply = await dialogue.ask("initialize", initialize_params(client_version), Era.LEGACY)
    if reply.result is None or not isinstance(reply.result.value, Mapping):
        return OpeningRefused(reply, "initialize")
    named = reply.result.value.get("protocolVersion")
    version = named[:_LONGEST_VERSION] if isinstance(named, str) else None
    dialogue.channel.set_protocol_version(version if version and _VERSION.fullmatch(version) else None)
    dialogue.opened(Era.LEGACY, version)
    await dialogue.notify("notifications/initialized")
    return Opened(dialogue, Era.LEGACY, version, reply.result, reply.exchange.seconds)


def note_negotiation(link: SessionLink, reply: Reply) -> bool:
    """Record the outcome of a further `initialize` on its connection; True when it opened."""
    result = reply.result.value if reply.result else None
    if not isinstance(result, Mapping):
        return False
    named = result.get("protocolVersion")
    link.opened, link.negotiated = True, named[:_LONGEST_VERSION] if isinstance(named, str) else None
    return True


def supports_modern_version(result: Json) -> bool:
    """True for a discover result whose supported versions include the modern one that we speak."""
    versions = result.get("supportedVersions") if isinstance(result, Mapping) else None
    return isinstance(versions, list) and MODERN_VERSION in versions
