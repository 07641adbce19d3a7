"""The requests that a process of the site makes of itself before it accepts connections.

The first page of each kind compiles statements, opens connections and fills caches of templates. Without these
requests the first visitor's home page took 99 ms of CPU, and the next one 13.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from ipaddress import ip_network
from typing import Final

from httpx import ASGITransport, AsyncClient
from starlette.types import ASGIApp

_ADDRESSES: Final = ip_network("198.18.0.0/15")
"""Addresses for measurements, which no visitor has (RFC 2544)."""

_SERVERS: Final = "/api/v1/servers"
_PAGES: Final = ("/", "/servers", "/servers?q=read+files", "/servers?sort=name")
_PAGES_OF_SERVER: Final = ("/servers/{}", "/servers/{}/history", f"{_SERVERS}/{{}}")


async def request_pages(app: ASGIApp, url: str, threads: int) -> None:
    """Request pages of each kind from an app at its public `url`, each by all `threads` at once, each as a client.

    A site that cannot list its servers gets no further request: its pages say what is wrong.
    """
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(_connect(app, url, number)) for number in range(threads)]
        listed = await clients[0].get(_SERVERS, params={"limit": 1})
        if not listed.is_success:
            return
        servers = [server["id"] for server in listed.json()["servers"]]
        for page in (*_PAGES, *(page.format(server) for server in servers for page in _PAGES_OF_SERVER)):
            await asyncio.gather(*(client.get(page) for client in clients))


def _connect(app: ASGIApp, url: str, number: int) -> AsyncClient:
    """A client with an address of its own: one client may request few pages at once."""
    transport = ASGITransport(app, raise_app_exceptions=False, client=(str(_ADDRESSES[number]), 0))
    return AsyncClient(transport=transport, base_url=url)
