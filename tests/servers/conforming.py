"""A dual-era MCP server on raw sockets that keeps every rule, so that hostile servers differ from it in one thing only.

It does what a server must and should do and nothing else; it uses no library and sends what a test asks for.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.servers.hostile import Call

MODERN = "2026-07-28"
HANDSHAKES = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
INFO = {"name": "upright", "version": "1.0.0"}
CAPABILITIES: dict[str, Any] = {"tools": {}, "resources": {}, "prompts": {}}
META = "io.modelcontextprotocol/"
FRESH = {"ttlMs": 60_000, "cacheScope": "public"}
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
REMOVED = {"ping", "initialize", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"}

LISTS: Mapping[str, dict[str, Any]] = {
    "tools/list": {
        "tools": [
            {
                "name": "get_note",
                "description": "Returns one note.",
                "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]},
                "annotations": {"readOnlyHint": True},
            },
            {
                "name": "add_note",
                "description": "Adds a note.",
                "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
                "annotations": {"readOnlyHint": False, "destructiveHint": False},
            },
        ]
    },
    "resources/list": {"resources": [{"uri": "note://welcome", "name": "welcome", "mimeType": "text/plain"}]},
    "resources/templates/list": {"resourceTemplates": [{"uriTemplate": "note://{id}", "name": "note"}]},
    "prompts/list": {"prompts": [{"name": "summarise", "description": "Summarises a note."}]},
}


class Refused(Exception):
    """A JSON-RPC error, with the HTTP status that goes with it."""

    def __init__(self, code: int, message: str, *, status: int = 200, data: Any = None) -> None:
        super().__init__(message)
        self.error = {"code": code, "message": message} | ({"data": data} if data is not None else {})
        self.status = status


@dataclass
class Upright:
    """The server. `legacy` and `modern` say which eras it speaks; `sessions` are those open."""

    legacy: bool = True
    modern: bool = True
    opened: int = 0
    sessions: dict[str, str] = field(default_factory=dict)

    async def __call__(self, call: Call) -> None:
        """Answer one request."""
        host = call.headers.get("host", "")
        own = {None, f"http://{host}", f"https://{host}"}
        if call.headers.get("origin") not in own or host.partition(":")[0] not in {"127.0.0.1", "localhost"}:
            await call.reply(403, b"", kind="")
            return
        try:
            posted = json.loads(call.body) if call.body else None
        except ValueError:
            await self.refuse(call, None, Refused(-32700, "Parse error", status=400))
            return
        number = posted.get("id") if isinstance(posted, dict) else None
        try:
            await self._serve(call, posted)
        except Refused as refused:
            await self.refuse(call, number, refused)

    async def refuse(self, call: Call, number: Any, refused: Refused) -> None:
        """Send an error."""
        await self.send(call, {"jsonrpc": "2.0", "id": number, "error": refused.error}, status=refused.status)

    async def send(self, call: Call, message: Any, *headers: tuple[str, str], status: int = 200) -> None:
        """Send a message as JSON."""
        await call.reply(status, json.dumps(message).encode(), *headers)

    async def _serve(self, call: Call, posted: Any) -> None:
        version = call.headers.get("mcp-protocol-version")
        if self.modern and version is not None and version not in HANDSHAKES:
            await self._serve_modern(call, posted, version)
        elif self.modern and not self.legacy:
            await self._refuse_legacy(call, posted, version)
        elif version is not None and version not in HANDSHAKES:
            raise Refused(-32600, "Unsupported protocol version", status=400)
        else:
            await self._serve_legacy(call, posted)

    # The modern era.

    async def _serve_modern(self, call: Call, posted: Any, version: str) -> None:
        if call.verb != "POST":
            await call.reply(405, b"", ("Allow", "POST"), kind="")
            return
        if not isinstance(posted, dict):
            raise Refused(-32600, "Invalid request", status=400)
        if "id" not in posted:
            await call.reply(202, b"", kind="")
            return
        params = posted.get("params") or {}
        self._check_envelope(call, posted, params, version)
        result = {"resultType": "complete", **self.modern_result(str(posted["method"]), params)}
        result["_meta"] = {f"{META}serverInfo": INFO}
        await self.send(call, {"jsonrpc": "2.0", "id": posted["id"], "result": result})

    def _check_envelope(self, call: Call, posted: Mapping[str, Any], params: Mapping[str, Any], version: str) -> None:
        meta = params.get("_meta") or {}
        if not {f"{META}protocolVersion", f"{META}clientCapabilities"} <= set(meta):
            raise Refused(-32602, "Missing _meta", status=400)
        if meta[f"{META}protocolVersion"] != version:
            raise Refused(-32020, "MCP-Protocol-Version differs from the body", status=400)
        if version != MODERN:
            data = {"supported": [MODERN], "requested": version}
            raise Refused(-32022, "Unsupported protocol version", status=400, data=data)
        if call.headers.get("mcp-method") != posted["method"]:
            raise Refused(-32020, "Mcp-Method differs from the body", status=400)
        wanted = NAMED.get(posted["method"])
        if wanted and _decoded(call.headers.get("mcp-name")) != params.get(wanted):
            raise Refused(-32020, "Mcp-Name differs from the body", status=400)

    def modern_result(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """The result of a modern request, without what every result has."""
        if method == "server/discover":
            return {"supportedVersions": [MODERN], "capabilities": CAPABILITIES, **FRESH}
        if method in LISTS:
            self._check_cursor(params)
            return LISTS[method] | FRESH
        if method == "tools/call" and params.get("name") == "get_note":
            return call_tool(params)
        if method in NAMED:
            raise Refused(-32602, "Not found", status=200)
        raise Refused(-32601, "Method not found", status=404)

    async def _refuse_legacy(self, call: Call, posted: Any, version: str | None) -> None:
        if call.verb != "POST":
            await call.reply(405, b"", ("Allow", "POST"), kind="")
            return
        if version is None and isinstance(posted, dict) and posted.get("method") != "initialize":
            raise Refused(-32020, "The MCP-Protocol-Version header is missing", status=400)
        requested = version or ((posted or {}).get("params") or {}).get("protocolVersion")
        data = {"supported": [MODERN], "requested": requested}
        raise Refused(-32022, "Unsupported protocol version", status=400, data=data)

    # The legacy era.

    async def _serve_legacy(self, call: Call, posted: Any) -> None:
        session = call.headers.get("mcp-session-id")
        method = posted.get("method") if isinstance(posted, dict) else None
        if call.verb == "POST" and method == "initialize":
            await self._open(call, posted)
            return
        if session is None:
            raise Refused(-32600, "Missing session", status=400)
        if session not in self.sessions:
            raise Refused(-32600, "Session not found", status=404)
        if call.verb == "DELETE":
            del self.sessions[session]
            await call.reply(204, b"", kind="")
        elif call.verb != "POST":
            await call.reply(405, b"", ("Allow", "POST, DELETE"), kind="")
        else:
            await self._answer(call, posted, session)

    async def _open(self, call: Call, posted: Mapping[str, Any]) -> None:
        offered = (posted.get("params") or {}).get("protocolVersion")
        version = offered if offered in HANDSHAKES else HANDSHAKES[-1]
        self.opened += 1
        session = f"session-{self.opened:024d}"
        self.sessions[session] = version
        result = {"protocolVersion": version, "capabilities": CAPABILITIES, "serverInfo": INFO}
        await self.send(call, {"jsonrpc": "2.0", "id": posted["id"], "result": result}, ("Mcp-Session-Id", session))

    async def _answer(self, call: Call, posted: Any, session: str) -> None:
        if isinstance(posted, list) and self.sessions[session] == "2025-03-26":
            await self.send(call, [self._reply(one) for one in posted if "id" in one])
        elif not isinstance(posted, dict):
            raise Refused(-32600, "Invalid request", status=400)
        elif "id" not in posted:
            await call.reply(202, b"", kind="")
        else:
            await self.send(call, self._reply(posted))

    def _reply(self, posted: Mapping[str, Any]) -> dict[str, Any]:
        try:
            result = self.legacy_result(str(posted.get("method")), posted.get("params") or {})
        except Refused as refused:
            return {"jsonrpc": "2.0", "id": posted["id"], "error": refused.error}
        return {"jsonrpc": "2.0", "id": posted["id"], "result": result}

    def legacy_result(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """The result of a legacy request."""
        if method == "ping":
            return {}
        if method in LISTS:
            self._check_cursor(params)
            return LISTS[method]
        if method == "tools/call" and params.get("name") == "get_note":
            return call_tool(params)
        if method in NAMED:
            raise Refused(-32002 if method == "resources/read" else -32602, "Not found")
        raise Refused(-32601, "Method not found")

    def _check_cursor(self, params: Mapping[str, Any]) -> None:
        if params.get("cursor") is not None:
            raise Refused(-32602, "Invalid cursor", status=200)


def call_tool(params: Mapping[str, Any]) -> dict[str, Any]:
    """The result of the tool that reads a note."""
    arguments = params.get("arguments")
    if not isinstance(arguments, dict) or not isinstance(arguments.get("id"), str):
        return {"content": [{"type": "text", "text": "id must be a string"}], "isError": True}
    return {"content": [{"type": "text", "text": "A note."}]}


def _decoded(value: str | None) -> str | None:
    """A header value, out of its Base64 form if it is in one."""
    if value is None or not (value.startswith("=?base64?") and value.endswith("?=")):
        return value
    try:
        return base64.b64decode(value[9:-2], validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
