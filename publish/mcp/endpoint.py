"""The MCP server of the site at `/mcp` over streamable HTTP; it is stateless, so any process may answer a request."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from fastapi import APIRouter
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from publish.web.context import SiteContext

MCP_PATH: Final = "/mcp"
"""The path of the endpoint. It takes POST only, since it has no sessions and no server messages."""


class McpEndpoint:
    """The endpoint. The server is created at app start: the SDK configures logging unless that was done before.

    A static report never starts the app, and does without the SDK, a fifth of the time that it takes.
    """

    def __init__(self, site: SiteContext) -> None:
        self._site = site
        self._app: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert self._app is not None, "the app takes no requests before it has started"
        await self._app(scope, receive, send)

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        from mcp.server.streamable_http_manager import StreamableHTTPASGIApp  # noqa: PLC0415  see the class

        from publish.mcp.server import LONGEST_REQUEST, create_mcp_server, transport_security  # noqa: PLC0415

        address = self._site.backend.base_url
        server = create_mcp_server(self._site.store, address, hidden=self._site.is_hidden)
        server.streamable_http_app(
            json_response=True,
            stateless_http=True,
            max_request_body_size=LONGEST_REQUEST,
            transport_security=transport_security(address),
        )
        async with server.session_manager.run():
            self._app = StreamableHTTPASGIApp(server.session_manager)
            yield


def routes(site: SiteContext) -> APIRouter:
    endpoint = McpEndpoint(site)
    site.lifespans.append(endpoint.lifespan)
    router = APIRouter()
    router.routes.append(Route(MCP_PATH, endpoint, methods=["POST"]))
    return router
