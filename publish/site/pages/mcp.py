"""The MCP server of the site at `/mcp`, over streamable HTTP: every request stands alone, so any process may answer."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from fastapi import APIRouter
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from publish.mcp_server import LONGEST_REQUEST, mcp_server, security
from publish.site.site import Site

PATH: Final = "/mcp"
"""Where the endpoint is. It takes POST only: there are no sessions to end, and nothing to listen for."""


class Endpoint:
    """Answers while the app runs. The server is made when the app starts: the SDK sets up logging unless we did."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._app: StreamableHTTPASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        assert self._app is not None, "the app takes no requests before it has started"
        await self._app(scope, receive, send)

    @asynccontextmanager
    async def lifespan(self) -> AsyncIterator[None]:
        """Open while the app runs."""
        address = self._site.desk.base_url
        server = mcp_server(self._site.store, address, hidden=self._site.is_hidden)
        server.streamable_http_app(
            json_response=True,
            stateless_http=True,
            max_request_body_size=LONGEST_REQUEST,
            transport_security=security(address),
        )
        async with server.session_manager.run():
            self._app = StreamableHTTPASGIApp(server.session_manager)
            yield


def routes(site: Site) -> APIRouter:
    """`/mcp`."""
    endpoint = Endpoint(site)
    site.lifespans.append(endpoint.lifespan)
    router = APIRouter()
    router.routes.append(Route(PATH, endpoint, methods=["POST"]))
    return router
