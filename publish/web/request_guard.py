"""Limits size and duration of requests, removes trailing slashes, and answers HEAD as GET without a body."""

from __future__ import annotations

import asyncio
from typing import Final

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from publish.web.context import SiteContext
from publish.web.errors import failure_response
from publish.web.request_checks import accepts_json_media

_CLOSE: Final = {"connection": "close"}
_LARGE: Final = "/datasets/"
"""Routes of files below this path answer HEAD themselves, so that no file is read only to be discarded."""

_BODILESS: Final = frozenset({"GET", "HEAD", "OPTIONS", "DELETE"})


class RequestGuard:
    """Refuses requests that are too long or too slow, strips trailing slashes of paths, and answers HEAD."""

    def __init__(self, app: ASGIApp, site: SiteContext) -> None:
        self._app = app
        self._site = site

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        send = send if scope["method"] != "HEAD" else _bodiless(send)
        refusal = self._refusal(scope)
        if refusal is not None:
            await refusal(scope, receive, send)
            return
        if scope["method"] == "HEAD" and not scope["path"].startswith(_LARGE):
            scope["method"] = "GET"
        await self._app(scope, self._bounded(receive), send)

    def _refusal(self, scope: Scope) -> Response | None:
        limits, path = self._site.backend.limits, str(scope["path"])
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > limits.url:
            return failure_response(self._site, path, 414)
        headers = Headers(scope=scope)
        length = headers.get("content-length", "0")
        if "\x00" in path or b"%00" in scope["query_string"] or not length.isdecimal():
            return failure_response(self._site, path, 400)
        if int(length) > limits.body:
            return failure_response(self._site, path, 413, headers=_CLOSE)
        if path.startswith("/api/") and not accepts_json_media(headers.get("accept", "")):
            return failure_response(self._site, path, 406)
        if path != "/" and path.endswith("/") and scope["method"] in _BODILESS:
            return Response(status_code=308, headers={"location": _without_slash(scope)})
        return None

    def _bounded(self, receive: Receive) -> Receive:
        """The body of a request; reading it raises HTTPException if it is too long or too slow."""
        limits, taken, complete = self._site.backend.limits, 0, False

        async def take() -> Message:
            nonlocal taken, complete
            if complete:  # the next message is the disconnect of the client
                return await receive()
            try:
                message = await asyncio.wait_for(receive(), limits.body_seconds)
            except TimeoutError as error:
                raise HTTPException(408, headers=_CLOSE) from error
            taken += len(message.get("body", b""))
            complete = not message.get("more_body", False)
            if taken > limits.body:
                raise HTTPException(413, headers=_CLOSE)
            return message

        return take


def _bodiless(send: Send) -> Send:
    async def without(message: Message) -> None:
        await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

    return without


def _without_slash(scope: Scope) -> str:
    """The path without trailing slashes, and with one leading slash: two would name another host."""
    raw = str(scope.get("raw_path") or scope["path"].encode(), "latin-1")
    query = str(scope["query_string"], "latin-1")
    return "/" + raw.strip("/\\") + (f"?{query}" if query else "")
