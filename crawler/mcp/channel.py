"""What the MCP transports share: eras, versions, and the channel that a probe talks through."""

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
    """`legacy` opens with initialize, `modern` (2026-07-28 and later) with server/discover."""

    LEGACY = "legacy"
    MODERN = "modern"


class Channel(Protocol):
    """One conversation with one server over one transport. Failures come back in the reply, nothing is raised."""

    @property
    def transport(self) -> str:
        """`streamable-http`, `sse` or `stdio`."""
        ...

    @property
    def session(self) -> str | None:
        """The session id that the server assigned, when it can be sent back."""
        ...

    @property
    def assigned(self) -> str | None:
        """What the server assigned as a session id, whatever it is made of."""
        ...

    async def ask(self, method: str, params: Mapping[str, Json], era: Era, *, seconds: float | None = None) -> Reply:
        """Send a request and wait for its answer, at most `seconds` when given."""
        ...

    def number(self) -> int:
        """The id of the next request, for one that is put together elsewhere."""
        ...

    async def tell(self, method: str) -> None:
        """Send a notification; what comes back is only recorded."""
        ...

    def negotiated(self, version: str | None) -> None:
        """Keep the protocol version that later requests must name."""
        ...

    async def close(self) -> None:
        """End the conversation as a polite client does."""
        ...


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
