"""What scripted server `number` of a seed answers to each JSON-RPC message, whatever carries it."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from typing import Any

from tests.servers import scripted_content as content

MODERN = "2026-07-28"
LEGACY = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
LISTS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}


@dataclass(frozen=True)
class Script:
    """One scripted server. Everything it says depends on (seed, number) only."""

    seed: int
    number: int

    @property
    def fault(self) -> str | None:
        """`gated` (every 7th), `broken` (11th), `html` (13th), `limited` (17th) or None; number 0 is healthy."""
        for every, name in ((7, "gated"), (11, "broken"), (13, "html"), (17, "limited")):
            if (self.number + 1) % every == 0:
                return name
        return None

    @property
    def era(self) -> str:
        """`legacy` for six in eight, `modern` for one and `dual` for one."""
        return {3: "modern", 5: "dual"}.get(self.number % 8, "legacy")

    @property
    def version(self) -> str:
        """The newest handshake version that it speaks; a server of both eras knows all."""
        return LEGACY[-1] if self.era == "dual" else LEGACY[(self.number * 7 + self.seed) % len(LEGACY)]

    @property
    def answers_in_sse(self) -> bool:
        """One in three frames its HTTP answers as an event stream."""
        return self.number % 3 == 2

    @property
    def page_size(self) -> int:
        """One in four pages its lists by three items."""
        return 3 if self.number % 4 == 1 else 10_000

    @property
    def session(self) -> str | None:
        """Two in three keep a session; the id is constant so that answers never depend on time or order."""
        return (
            f"session-{self.seed}-{self.number}-0123456789" if self.number % 3 != 1 and self.era != "modern" else None
        )

    @property
    def capabilities(self) -> dict[str, Any]:
        """Tools always, resources and prompts for some."""
        declared: dict[str, Any] = {"tools": {"listChanged": self.number % 2 == 0}}
        if self.number % 4 == 0:
            declared["resources"] = {}
        if self.number % 5 == 0:
            declared["prompts"] = {}
        return declared

    def items(self, name: str) -> list[dict[str, Any]]:
        """The whole list behind one of the four list methods."""
        return _items(self.seed, self.number, name)

    def answer(self, message: dict[str, Any], *, modern: bool) -> dict[str, Any] | None:
        """The JSON-RPC response to a message, None for a notification. `modern`: the request named 2026-07-28."""
        if "id" not in message:
            return None
        method, params = message.get("method"), message.get("params") or {}
        era_allows = self.era != "legacy" if modern else self.era != "modern"
        if not era_allows:
            return self._refuse_era(message["id"], method)
        result = self._result(method, params, modern=modern)
        if "code" in result:
            return {"jsonrpc": "2.0", "id": message["id"], "error": result}
        return {"jsonrpc": "2.0", "id": message["id"], "result": result}

    def _refuse_era(self, request: Any, method: Any) -> dict[str, Any]:
        error: dict[str, Any] = {"code": -32601, "message": f"Method not found: {method}"}
        if self.era == "modern":
            data = {"supported": [MODERN], "requested": self.version}
            error = {"code": -32022, "message": "Unsupported protocol version", "data": data}
        return {"jsonrpc": "2.0", "id": request, "error": error}

    def _result(self, method: Any, params: dict[str, Any], *, modern: bool) -> dict[str, Any]:
        if method == ("server/discover" if modern else "initialize"):
            return self._opening(params, modern=modern)
        if method == "ping" and not modern:
            return {}
        if method in LISTS and method.partition("/")[0] in self.capabilities:
            return self._page(LISTS[method], params.get("cursor"), modern=modern)
        return {"code": -32601, "message": f"Method not found: {method}"}

    def _opening(self, params: dict[str, Any], *, modern: bool) -> dict[str, Any]:
        info = {"name": f"scripted-{self.number}", "version": f"1.{self.number % 10}.0"}
        opening: dict[str, Any] = {"capabilities": self.capabilities}
        if self.number % 6 == 0:
            opening["instructions"] = "List the records first, then ask for one by its identifier."
        if modern:
            return opening | self._modern_members() | {"supportedVersions": [MODERN]}
        asked = params.get("protocolVersion")
        version = asked if asked in LEGACY and asked <= self.version else self.version
        return {"protocolVersion": version, "serverInfo": info} | opening

    def _page(self, name: str, cursor: Any, *, modern: bool) -> dict[str, Any]:
        start = int(cursor.removeprefix("from-")) if isinstance(cursor, str) and cursor.startswith("from-") else 0
        items, stop = self.items(name), start + self.page_size
        page: dict[str, Any] = {name: items[start:stop]}
        if stop < len(items):
            page["nextCursor"] = f"from-{stop}"
        return page | self._modern_members() if modern else page

    def _modern_members(self) -> dict[str, Any]:
        info = {"name": f"scripted-{self.number}", "version": f"1.{self.number % 10}.0"}
        meta = {"io.modelcontextprotocol/serverInfo": info}
        return {"resultType": "complete", "ttlMs": 60_000, "cacheScope": "public", "_meta": meta}


def encode(message: dict[str, Any]) -> bytes:
    """One JSON text on one line; non-ASCII text is sent as UTF-8."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()


@functools.lru_cache(maxsize=4096)
def _items(seed: int, number: int, name: str) -> list[dict[str, Any]]:
    source = {
        "tools": content.tools,
        "resources": content.resources,
        "resourceTemplates": content.templates,
        "prompts": content.prompts,
    }
    return source[name](seed, number)
