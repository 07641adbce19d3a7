"""httpx and httpx2 on the guarded engine: `httpx.AsyncClient(transport=GuardedTransport(engine))`.

Bodies arrive without Content-Encoding, so neither library ever inflates anything. Failures of the wire become the
library's own exceptions, whose `__cause__` is the WireFailure.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Final

import httpx
import httpx2

from crawler.http.address_guard import AddressGuard
from crawler.http.connection import Limits
from crawler.http.engine import HttpEngine, HttpSession, Request, Response
from crawler.http.failures import InvalidTarget, Malformed, TimedOut, TooLarge, UnsupportedEncoding, WireFailure
from crawler.http.url import parse_url

_OURS: Final = {"host", "user-agent", "accept-encoding", "content-length", "transfer-encoding", "connection"}
_ENCODING: Final = {"content-encoding", "transfer-encoding"}


class GuardedTransport(httpx.AsyncBaseTransport):
    """An httpx transport on the engine."""

    def __init__(self, engine: HttpEngine, *, guard: AddressGuard | None = None, limits: Limits | None = None) -> None:
        self._limits = limits or engine.limits
        self._visit = engine.visit(guard=guard)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; the body of the answer is streamed under the caps."""
        try:
            response = await _send(self._visit, request, self._limits)
        except WireFailure as failure:
            raise _httpx_error(failure, request) from failure
        stream = _HttpxStream(response, request)
        return httpx.Response(response.head.status, headers=_plain_headers(response), stream=stream)

    async def aclose(self) -> None:
        """Drop the connections."""
        self._visit.close()


class GuardedTransport2(httpx2.AsyncBaseTransport):
    """An httpx2 transport on the engine."""

    def __init__(self, engine: HttpEngine, *, guard: AddressGuard | None = None, limits: Limits | None = None) -> None:
        self._limits = limits or engine.limits
        self._visit = engine.visit(guard=guard)

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request; the body of the answer is streamed under the caps."""
        try:
            response = await _send(self._visit, request, self._limits)
        except WireFailure as failure:
            raise _httpx2_error(failure, request) from failure
        stream = _Httpx2Stream(response, request)
        return httpx2.Response(response.head.status, headers=_plain_headers(response), stream=stream)

    async def aclose(self) -> None:
        """Drop the connections."""
        self._visit.close()


class _HttpxStream(httpx.AsyncByteStream):
    def __init__(self, response: Response, request: httpx.Request) -> None:
        self._response = response
        self._request = request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for part in _parts(self._response):
                yield part
        except WireFailure as failure:
            raise _httpx_error(failure, self._request) from failure

    async def aclose(self) -> None:
        self._response.close()


class _Httpx2Stream(httpx2.AsyncByteStream):
    def __init__(self, response: Response, request: httpx2.Request) -> None:
        self._response = response
        self._request = request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for part in _parts(self._response):
                yield part
        except WireFailure as failure:
            raise _httpx2_error(failure, self._request) from failure

    async def aclose(self) -> None:
        self._response.close()


async def _send(visit: HttpSession, request: httpx.Request | httpx2.Request, limits: Limits) -> Response:
    url = parse_url(str(request.url))
    headers = _sendable(request.headers.raw)
    return await visit.open(Request(request.method, url, headers, await request.aread(), limits))


def _sendable(raw: Iterable[tuple[bytes, bytes]]) -> list[tuple[str, str]]:
    pairs = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in raw]
    return [(name, value) for name, value in pairs if name.lower() not in _OURS]


def _plain_headers(response: Response) -> list[tuple[str, str]]:
    """Headers that fit the body as it is handed over; a length only where it is that of this body."""
    headers = response.head.headers
    encoded = any(name in _ENCODING for name, _ in headers)
    return [pair for pair in headers if pair[0] not in _ENCODING and not (encoded and pair[0] == "content-length")]


async def _parts(response: Response) -> AsyncIterator[bytes]:
    while part := await response.read():
        yield part


def _httpx_error(failure: WireFailure, request: httpx.Request) -> httpx.TransportError:
    kind: type[httpx.TransportError] = httpx.ConnectError
    match failure:
        case TimedOut():
            kind = httpx.ReadTimeout if failure.connected else httpx.ConnectTimeout
        case InvalidTarget():
            kind = httpx.UnsupportedProtocol
        case Malformed() | TooLarge() | UnsupportedEncoding():
            kind = httpx.RemoteProtocolError
    return kind(f"{failure.reason}: {failure.detail}", request=request)


def _httpx2_error(failure: WireFailure, request: httpx2.Request) -> httpx2.TransportError:
    kind: type[httpx2.TransportError] = httpx2.ConnectError
    match failure:
        case TimedOut():
            kind = httpx2.ReadTimeout if failure.connected else httpx2.ConnectTimeout
        case InvalidTarget():
            kind = httpx2.UnsupportedProtocol
        case Malformed() | TooLarge() | UnsupportedEncoding():
            kind = httpx2.RemoteProtocolError
    return kind(f"{failure.reason}: {failure.detail}", request=request)
