"""Shared by the MCP transports: eras, protocol versions, and the channel interface that a probe uses."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, Protocol

from crawler.mcp.transcript import Reply
from evidence.canonical import Json

MODERN_VERSION: Final = "2026-07-28"
LEGACY_VERSION: Final = "2025-11-25"  # offered in initialize; the server may answer with an older one
CLIENT_NAME: Final = "hallmark"

_META: Final = "io.modelcontextprotocol"


class Era(StrEnum):
    """`legacy` servers are opened with initialize, `modern` ones (2026-07-28 and later) with server/discover."""

    LEGACY = "legacy"
    MODERN = "modern"


class Channel(Protocol):
    """One connection to one server over one transport. Failures are returned in the reply and never raised."""

    @property
    def transport(self) -> str:
        """`streamable-http`, `sse` or `stdio`."""
        ...

    @property
    def session(self) -> str | None:
        """The session id that the server assigned, if it is valid and can be sent back."""
        ...

    @property
    def assigned(self) -> str | None:
        """The session id that the server assigned, also an invalid one."""
        ...

    async def send_request(
        self, method: str, params: Mapping[str, Json], era: Era, *, seconds: float | None = None
    ) -> Reply:
        """Send a request and wait for its response, at most `seconds` if given."""
        ...

    def next_id(self) -> int:
        """Reserve the id of the next request, for a request that the caller encodes."""
        ...

    async def send_notification(self, method: str) -> None:
        """Send a notification; a response is recorded only."""
        ...

    def set_protocol_version(self, version: str | None) -> None:
        """Set the negotiated version, which later requests must name."""
        ...

    async def close(self) -> None: ...


def initialize_params(client_version: str) -> dict[str, Json]:
    """Parameters of initialize: the newest legacy version and no capabilities."""
    info = {"name": CLIENT_NAME, "version": client_version}
    return {"protocolVersion": LEGACY_VERSION, "capabilities": {}, "clientInfo": info}


def modern_params(params: Mapping[str, Json], client_version: str) -> dict[str, Json]:
    """Parameters of a modern request: `_meta` names version, client and (no) capabilities in each of them."""
    meta: dict[str, Json] = {
        f"{_META}/protocolVersion": MODERN_VERSION,
        f"{_META}/clientInfo": {"name": CLIENT_NAME, "version": client_version},
        f"{_META}/clientCapabilities": {},
    }
    return {**params, "_meta": meta}
