"""Servers of one era over HTTP: an ASGI wrapper that turns the other era away as that era's rules ask.

The SDK serves both eras on one address and has no switch; a client of the other era must still get a clear answer.
"""

from __future__ import annotations

import json
from typing import Any, Final

from mcp_types import HEADER_MISMATCH, INVALID_REQUEST, UNSUPPORTED_PROTOCOL_VERSION
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

VERSION: Final = "mcp-protocol-version"


class LegacyOnly:
    """Refuses any protocol version that the handshake cannot negotiate, with 400."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it."""
        version = Request(scope).headers.get(VERSION) if scope["type"] == "http" else None
        if version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS:
            known = ", ".join(HANDSHAKE_PROTOCOL_VERSIONS)
            refusal = _error(INVALID_REQUEST, f"Unsupported protocol version; supported are {known}", None)
            await refusal(scope, receive, send)
        else:
            await self._app(scope, receive, send)


class ModernOnly:
    """Serves POST only, and refuses requests whose header names no version, or one of the legacy era."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or refuse it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        if request.method != "POST":
            await Response(status_code=405, headers={"Allow": "POST"})(scope, receive, send)
            return
        body = await request.body()
        version = request.headers.get(VERSION)
        if version is not None and version not in HANDSHAKE_PROTOCOL_VERSIONS:
            await self._app(scope, _replay(body, receive), send)
        else:
            await _refuse(_parsed(body), version)(scope, receive, send)


def _refuse(message: dict[str, Any], version: str | None) -> Response:
    params = message.get("params")
    params = params if isinstance(params, dict) else {}
    if message.get("method") == "initialize" or version is not None:
        asked = version or params.get("protocolVersion")
        data = {"supported": list(MODERN_PROTOCOL_VERSIONS), "requested": asked}
        return _error(UNSUPPORTED_PROTOCOL_VERSION, "Unsupported protocol version", message.get("id"), data)
    return _error(HEADER_MISMATCH, "The MCP-Protocol-Version header is missing", message.get("id"))


def _error(code: int, words: str, request_id: Any, data: Any = None) -> Response:
    error = {"code": code, "message": words} | ({"data": data} if data is not None else {})
    return JSONResponse({"jsonrpc": "2.0", "id": request_id, "error": error}, status_code=400)


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _replay(body: bytes, receive: Receive) -> Receive:
    """Give the body that was read already, then whatever comes."""
    given = False

    async def replayed() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replayed
