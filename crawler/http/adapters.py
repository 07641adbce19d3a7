"""httpx on the guarded engine: `httpx.AsyncClient(transport=GuardedTransport(engine))`; httpx2_adapter.py uses it too.

Bodies arrive without Content-Encoding, so neither library decompresses anything. A WireFailure becomes the library's
own exception, with the WireFailure as its `__cause__`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import TYPE_CHECKING, Final

import httpx

from crawler.http.address_guard import AddressGuard
from crawler.http.connection import Limits
from crawler.http.engine import HttpEngine, HttpSession, Request, Response
from crawler.http.failures import InvalidTarget, Malformed, TimedOut, TooLarge, UnsupportedEncoding, WireFailure
from crawler.http.url import parse_url

if TYPE_CHECKING:
    import httpx2

_ENGINE_HEADERS: Final = {"host", "user-agent", "accept-encoding", "content-length", "transfer-encoding", "connection"}
_ENCODING: Final = {"content-encoding", "transfer-encoding"}


class GuardedTransport(httpx.AsyncBaseTransport):
    """An httpx transport that sends requests through the guarded engine."""

    def __init__(self, engine: HttpEngine, *, guard: AddressGuard | None = None, limits: Limits | None = None) -> None:
        self._limits = limits or engine.limits
        self._session = engine.open_session(guard=guard)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request; the response body is streamed within the size limits."""
        try:
            response = await send_request(self._session, request, self._limits)
        except WireFailure as failure:
            raise _httpx_error(failure, request) from failure
        stream = _HttpxStream(response, request)
        return httpx.Response(response.head.status, headers=list_plain_headers(response), stream=stream)

    async def aclose(self) -> None:
        self._session.close()


class _HttpxStream(httpx.AsyncByteStream):
    def __init__(self, response: Response, request: httpx.Request) -> None:
        self._response = response
        self._request = request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for part in read_parts(self._response):
                yield part
        except WireFailure as failure:
            raise _httpx_error(failure, self._request) from failure

    async def aclose(self) -> None:
        self._response.close()


async def send_request(session: HttpSession, request: httpx.Request | httpx2.Request, limits: Limits) -> Response:
    """Send a request of either library through the engine."""
    url = parse_url(str(request.url))
    headers = _sendable(request.headers.raw)
    return await session.open(Request(request.method, url, headers, await request.aread(), limits))


def _sendable(raw: Iterable[tuple[bytes, bytes]]) -> list[tuple[str, str]]:
    pairs = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in raw]
    return [(name, value) for name, value in pairs if name.lower() not in _ENGINE_HEADERS]


def list_plain_headers(response: Response) -> list[tuple[str, str]]:
    """The headers without encodings; Content-Length only if the body had no encoding, since it counts encoded bytes."""
    headers = response.head.headers
    encoded = any(name in _ENCODING for name, _ in headers)
    return [pair for pair in headers if pair[0] not in _ENCODING and not (encoded and pair[0] == "content-length")]


async def read_parts(response: Response) -> AsyncIterator[bytes]:
    """The parts of a body as they arrive."""
    while part := await response.read():
        yield part


def _httpx_error(failure: WireFailure, request: httpx.Request) -> httpx.TransportError:
    kind: type[httpx.TransportError] = getattr(httpx, name_error(failure))
    return kind(f"{failure.reason}: {failure.detail}", request=request)


def name_error(failure: WireFailure) -> str:
    """The name that both libraries give to the exception for a failure."""
    match failure:
        case TimedOut():
            return "ReadTimeout" if failure.connected else "ConnectTimeout"
        case InvalidTarget():
            return "UnsupportedProtocol"
        case Malformed() | TooLarge() | UnsupportedEncoding():
            return "RemoteProtocolError"
        case _:
            return "ConnectError"
