"""httpx2, the library of the official client, on the guarded engine."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx2

from crawler.http.adapters import list_plain_headers, name_error, read_parts, send_request
from crawler.http.address_guard import AddressGuard
from crawler.http.connection import Limits
from crawler.http.engine import HttpEngine, Response
from crawler.http.failures import WireFailure


class GuardedTransport2(httpx2.AsyncBaseTransport):
    """An httpx2 transport that sends requests through the guarded engine."""

    def __init__(self, engine: HttpEngine, *, guard: AddressGuard | None = None, limits: Limits | None = None) -> None:
        self._limits = limits or engine.limits
        self._session = engine.open_session(guard=guard)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        try:
            response = await send_request(self._session, request, self._limits)
        except WireFailure as failure:
            raise _httpx2_error(failure, request) from failure
        stream = _Httpx2Stream(response, request)
        return httpx2.Response(response.head.status, headers=list_plain_headers(response), stream=stream)

    async def aclose(self) -> None:
        self._session.close()


class _Httpx2Stream(httpx2.AsyncByteStream):
    def __init__(self, response: Response, request: httpx2.Request) -> None:
        self._response = response
        self._request = request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for part in read_parts(self._response):
                yield part
        except WireFailure as failure:
            raise _httpx2_error(failure, self._request) from failure

    async def aclose(self) -> None:
        self._response.close()


def _httpx2_error(failure: WireFailure, request: httpx2.Request) -> httpx2.TransportError:
    kind: type[httpx2.TransportError] = getattr(httpx2, name_error(failure))
    return kind(f"{failure.reason}: {failure.detail}", request=request)
