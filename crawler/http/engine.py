"""The guarded HTTP/1.1 engine: everything that Hallmark fetches from the outside goes through it.

    async with engine.visit() as visit:
        answer = await visit.fetch(Request("POST", parse_url(url), body=body))

A visit keeps connections per origin and drops them at its end. A name is resolved once per visit, every address is
vetted for each connection, and it goes to a vetted address while Host and SNI keep the name. Redirects are answers.
"""

from __future__ import annotations

import asyncio
import errno
import ssl
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self, TypeAlias

import httpx

from crawler.http.address_guard import AddressGuard, classify_address
from crawler.http.connection import Connection, Head, Limits, tls_detail
from crawler.http.content_encoding import ACCEPTED_ENCODINGS, GzipDecoder, IdentityDecoder, choose_decoder
from crawler.http.failures import InvalidTarget, TimedOut, TlsFailure, TooLarge, Unreachable, WireFailure
from crawler.http.resolver import DnsResolver, Resolver, resolve_host
from crawler.http.url import Origin, Url, check_header

AddressLookup: TypeAlias = Callable[[str], Awaitable[Sequence[str]]]

_ADDRESSES: Final = 3  # tried per name
_IDLE: Final = 8  # connections kept per origin
_UNREACHABLE: Final = {
    errno.ECONNREFUSED: "connection refused",
    errno.ECONNRESET: "connection reset",
    errno.EHOSTUNREACH: "no route to the host",
    errno.ENETUNREACH: "no route to the network",
}


@dataclass(frozen=True, slots=True)
class Request:
    """One request. Host, User-Agent, Accept-Encoding and Content-Length are the engine's."""

    method: str
    url: Url
    headers: Sequence[tuple[str, str]] = ()
    body: bytes = b""
    limits: Limits | None = None


@dataclass(frozen=True, slots=True)
class FetchedResponse:
    """A whole answer; the body is without content encoding."""

    head: Head
    body: bytes

    @property
    def status(self) -> int:
        """The status code."""
        return self.head.status


class HttpEngine:
    """Settings shared by all visits: one TLS context, one resolver, one policy. Bound to no event loop."""

    def __init__(
        self,
        *,
        user_agent: str,
        guard: AddressGuard | None = None,
        resolver: Resolver | None = None,
        tls: ssl.SSLContext | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.guard = guard or AddressGuard()
        self.limits = limits or Limits()
        self._user_agent = user_agent
        self._resolver = resolver or DnsResolver()
        self._tls = tls or create_tls_context()

    def visit(self, *, guard: AddressGuard | None = None, seconds: float | None = None) -> HttpSession:
        """A set of connections for one purpose, all of it within `seconds` from the first request on."""
        return HttpSession(self, guard or self.guard, seconds)

    def render(self, request: Request) -> bytes:
        """The bytes of a request; InvalidTarget when a header would break the framing."""
        own = (
            ("host", request.url.origin.authority),
            ("user-agent", self._user_agent),
            ("accept-encoding", ACCEPTED_ENCODINGS),
        )
        lines = [f"{request.method} {request.url.target} HTTP/1.1".encode("latin-1")]
        try:
            pairs = [(name.encode("ascii"), value.encode("latin-1")) for name, value in (*own, *request.headers)]
        except UnicodeEncodeError as error:
            raise InvalidTarget("a header holds characters that HTTP does not allow") from error
        for name, value in pairs:
            check_header(name, value)
            lines.append(name + b": " + value)
        if request.body or request.method in {"POST", "PUT", "PATCH"}:
            lines.append(b"content-length: %d" % len(request.body))
        return b"\r\n".join(lines) + b"\r\n\r\n" + request.body

    async def addresses(self, host: str) -> Sequence[str]:
        """Addresses of a host, not yet vetted; Unreachable when there are none."""
        return await resolve_host(host, self._resolver)

    async def connect(
        self,
        origin: Origin,
        *,
        guard: AddressGuard,
        limits: Limits,
        deadline: float,
        addresses: AddressLookup | None = None,
    ) -> Connection:
        """A new connection to a vetted address of the origin, which `addresses` looks up."""
        loop = asyncio.get_running_loop()
        end = min(deadline, loop.time() + limits.connect)
        try:
            async with asyncio.timeout_at(end):
                found = await (addresses or self.addresses)(origin.host)
        except TimeoutError as error:
            raise TimedOut("the name was not resolved in time", connected=False) from error
        vetted = guard.vet(found, origin.port)[:_ADDRESSES]
        failure: WireFailure = Unreachable("the host name has no addresses")
        for position, address in enumerate(vetted):
            share = (end - loop.time()) / (2 if position + 1 < len(vetted) else 1)
            try:
                async with asyncio.timeout(share):
                    return await self._dial(origin, address, limits)
            except ssl.SSLError as error:
                raise TlsFailure(tls_detail(error)) from error
            except TimeoutError:
                failure = TimedOut("no connection in time", connected=False)
            except OSError as error:
                failure = Unreachable(_UNREACHABLE.get(error.errno or 0, "the connection failed"))
        raise failure

    async def _dial(self, origin: Origin, address: str, limits: Limits) -> Connection:
        secure = origin.scheme == "https"
        _, connection = await asyncio.get_running_loop().create_connection(
            lambda: Connection(limits),
            address,
            origin.port,
            ssl=self._tls if secure else None,
            server_hostname=origin.host if secure else None,
        )
        return connection


class HttpSession:
    """Connections of one probe or client, kept alive per origin; leaving the context drops them all."""

    def __init__(self, engine: HttpEngine, guard: AddressGuard, seconds: float | None) -> None:
        self._engine = engine
        self._guard = guard
        self._seconds = seconds
        self._end: float | None = None
        self._idle: dict[Origin, list[Connection]] = {}
        self._busy: set[Connection] = set()
        self._resolved: dict[str, Sequence[str]] = {}
        self.requests = 0  # that were asked for so far, whatever became of them

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def engine(self) -> HttpEngine:
        """The engine that this visit belongs to."""
        return self._engine

    @property
    def guard(self) -> AddressGuard:
        """The policy of this visit."""
        return self._guard

    async def is_private(self, origin: Origin) -> bool:
        """True when this visit may open private addresses and the origin has no other: the operator's own target."""
        if not self._guard.allow_private:
            return False
        try:
            async with asyncio.timeout(self._engine.limits.connect):
                found = await self._addresses(origin.host)
        except (WireFailure, TimeoutError):
            return False
        return all(classify_address(address) == "private" for address in found)

    def close(self) -> None:
        """Drop every connection."""
        for connection in [*self._busy, *(one for idle in self._idle.values() for one in idle)]:
            connection.abort()
        self._busy.clear()
        self._idle.clear()

    async def open(self, request: Request) -> Response:
        """Send a request and wait for the head; the body is read from the response."""
        data = self._engine.render(request)
        self.requests += 1
        limits = request.limits or self._engine.limits
        deadline = self._deadline(limits)
        while True:
            connection = await self._acquire(request.url.origin, limits, deadline)
            connection.send(data, limits=limits, deadline=deadline, bodiless=request.method == "HEAD")
            head: Head | None = None
            try:
                head = await connection.head()
            except Unreachable:
                if not (connection.answers and connection.silent):
                    raise
            finally:
                if head is None:
                    self._drop(connection)
            if head is not None:
                connection.answers += 1
                return Response(self, request.url.origin, connection, head, limits)
            # The peer had closed an idle connection before it saw the request: ask again on another one.

    async def fetch(self, request: Request) -> FetchedResponse:
        """Send a request and read the whole answer."""
        response = await self.open(request)
        try:
            return FetchedResponse(response.head, await response.read_all())
        finally:
            response.close()

    def release(self, origin: Origin, connection: Connection) -> None:
        """Keep a connection whose answer was read whole, drop any other."""
        self._busy.discard(connection)
        connection.finish() if connection.reusable else connection.abort()
        idle = self._idle.setdefault(origin, [])
        if connection.reusable and len(idle) < _IDLE:
            idle.append(connection)
        else:
            connection.abort()

    async def _connect(self, origin: Origin, limits: Limits, deadline: float) -> Connection:
        try:
            return await self._engine.connect(
                origin, guard=self._guard, limits=limits, deadline=deadline, addresses=self._addresses
            )
        except WireFailure:
            self._resolved.pop(origin.host, None)  # the host may have moved since
            raise

    async def _addresses(self, host: str) -> Sequence[str]:
        """Addresses of a host, looked up once a visit: what was vetted first is what is connected to later."""
        if host not in self._resolved:
            self._resolved[host] = await self._engine.addresses(host)
        return self._resolved[host]

    def _drop(self, connection: Connection) -> None:
        connection.abort()
        self._busy.discard(connection)

    def _deadline(self, limits: Limits) -> float:
        now = asyncio.get_running_loop().time()
        if self._seconds is not None and self._end is None:
            self._end = now + self._seconds
        return min(now + limits.total, self._end if self._end is not None else now + limits.total)

    async def _acquire(self, origin: Origin, limits: Limits, deadline: float) -> Connection:
        idle = self._idle.get(origin, [])
        while idle:
            connection = idle.pop()
            if connection.reusable:
                break
        else:
            connection = await self._connect(origin, limits, deadline)
        self._busy.add(connection)
        return connection


class Response:
    """The head of an answer and a body still to be read; `close` must be called."""

    def __init__(self, visit: HttpSession, origin: Origin, connection: Connection, head: Head, limits: Limits) -> None:
        self._visit = visit
        self._origin = origin
        self._connection: Connection | None = connection
        self._limits = limits
        self._inflater: GzipDecoder | IdentityDecoder | None = None
        self.head = head

    async def read(self) -> bytes:
        """The next bytes of the body without its content encoding; empty at the end."""
        if self._connection is None:
            return b""
        if self._inflater is None:
            encodings = ",".join(value for name, value in self.head.headers if name == "content-encoding")
            self._inflater = choose_decoder(encodings, self._limits.body_bytes)
        while data := await self._connection.chunk():
            if plain := self._inflater.feed(data):
                return plain
        return b""

    async def read_all(self) -> bytes:
        """The whole body, at most `body_bytes`."""
        parts: list[bytes] = []
        size = 0
        while part := await self.read():
            parts.append(part)
            size += len(part)
            if size > self._limits.body_bytes:
                raise TooLarge(f"more than {self._limits.body_bytes} bytes")
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def close(self) -> None:
        """Give the connection back, or drop it when the body was not read whole."""
        if self._connection is not None:
            self._visit.release(self._origin, self._connection)
            self._connection = None


def create_tls_context() -> ssl.SSLContext:
    """Certificate verification with the system's authorities, or the bundled ones where the system has none."""
    paths = ssl.get_default_verify_paths()
    known = paths.cafile or paths.capath
    context = ssl.create_default_context() if known else httpx.create_ssl_context(trust_env=False)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    return context
