"""The headers of every answer: no script, no foreign content, no frame, no guessing of types, no referrer."""

from __future__ import annotations

from typing import Final

from starlette.datastructures import MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from publish.web.backend import RequestLimits

CONTENT_POLICY: Final = (
    "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

_ALWAYS: Final = {
    "content-security-policy": CONTENT_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), browsing-topics=()",
    "cross-origin-opener-policy": "same-origin",
}


class SecurityHeaders:
    """Adds the headers to every answer; headers that a route set itself are kept."""

    def __init__(self, app: ASGIApp, limits: RequestLimits) -> None:
        self._app = app
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def secure(message: Message) -> None:
            if message["type"] == "http.response.start":
                _add(MutableHeaders(scope=message), self._limits)
            await send(message)

        await self._app(scope, receive, secure)


def add_security_headers(response: Response, limits: RequestLimits) -> Response:
    """Add the headers to an answer that bypasses the middleware."""
    _add(response.headers, limits)
    return response


def _add(headers: MutableHeaders, limits: RequestLimits) -> None:
    for name, value in _ALWAYS.items():
        headers.setdefault(name, value)
    headers.setdefault("cache-control", "no-store")
    if limits.hsts:
        headers.setdefault("strict-transport-security", f"max-age={int(limits.hsts.total_seconds())}")
