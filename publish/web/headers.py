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


_READABLE: Final = {
    "access-control-allow-origin": "*",
    "access-control-expose-headers": "ETag, Link, Retry-After",
}


class SecurityHeaders:
    """Adds the headers to every answer; headers that a route set itself are kept.

    Pages of any origin may read answers to GET below `open_path`. These never depend on cookies.
    """

    def __init__(self, app: ASGIApp, limits: RequestLimits, open_path: str) -> None:
        self._app = app
        self._limits = limits
        self._open_path = open_path

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        is_open = scope["method"] in {"GET", "HEAD"} and scope["path"].startswith(self._open_path)

        async def secure(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                _add(headers, self._limits)
                if is_open:
                    headers.update(_READABLE)
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
