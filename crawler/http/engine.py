"""The guarded HTTP/1.1 engine: all requests of Hallmark to other hosts go through it.

    async with engine.open_session() as session:
        response = await session.fetch(Request("POST", parse_url(url), body=body))

A session keeps connections per origin and closes them at its end. It resolves a name once, checks every address before
each connection, and connects to a checked address while Host and SNI keep the name. Redirects are not followed.
"""

from __future__ import annotations

import asyncio
import errno
import math
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from functools import cached_property
from types import TracebackType
from typing import Any, Final, Self

from msgspec import Struct

from crawler.http.address_guard import AddressGuard, classify_address
from crawler.http.connection import TIME_OVER, Connection, Head, Limits, tls_detail
from crawler.http.connectivity import OutageMonitor
from crawler.http.content_encoding import ACCEPTED_ENCODINGS, GzipDecoder, IdentityDecoder, choose_decoder
from crawler.http.failures import BudgetSpent, TimedOut, TlsFailure, TooLarge, Unreachable, WireFailure
from crawler.http.resolver import AcceptingAddresses, DnsResolver, RecentAnswers, Resolver, resolve_host
from crawler.http.tls_context import create_tls_context
from crawler.http.tls_sessions import ResumingContext, TlsSessions
from crawler.http.url import Origin, Url, check_header

_ADDRESSES: Final = 3  # that are tried per name
_IDLE: Final = 8  # idle connections that are kept per origin
_TIMER_ERROR: Final = 0.01  # seconds by which a timer may be early
_UNREACHABLE: Final = {
    errno.ECONNREFUSED: "connection refused",
    errno.ECONNRESET: "connection reset",
    errno.EHOSTUNREACH: "no route to the host",
    errno.ENETUNREACH: "no route to the network",
}


class Request(Struct, frozen=True):
    """One request. The engine adds Host (unless given), User-Agent, Accept-Encoding and Content-Length."""

    method: str
    url: Url
    headers: Sequence[tuple[str, str]] = ()
    body: bytes = b""
    limits: Limits | None = None


class FetchedResponse(Struct, frozen=True):
    """A complete response; the body is without content encoding."""

    head: Head
    body: bytes

    @property
    def status(self) -> int:
        return self.head.status


class HttpEngine:
    """Settings shared by all sessions: TLS context, resolver and address policy. Not bound to an event loop.

    With `outages`, a failure while this machine is offline has the reason `collector_offline`. `dial` connects to a
    port inside a box in place of the checked address.
    """

    def __init__(
        self,
        *,
        user_agent: str,
        guard: AddressGuard | None = None,
        resolver: Resolver | None = None,
        tls: ssl.SSLContext | None = None,
        limits: Limits | None = None,
        outages: OutageMonitor | None = None,
        dial: Callable[[int], Awaitable[socket.socket]] | None = None,
    ) -> None:
        self.guard = guard or AddressGuard()
        self.outages = outages
        self._given_dial = dial
        self.limits = limits or Limits()
        check_header("user-agent", user_agent)
        self._own_headers = f"user-agent: {user_agent}\r\naccept-encoding: {ACCEPTED_ENCODINGS}"
        self.resolver = RecentAnswers(resolver or DnsResolver())
        self._given_tls = tls
        self.tls_sessions = TlsSessions()
        self._accepting = AcceptingAddresses()

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        """Made for the first connection over TLS, since reading the system's authorities is slow."""
        if self._given_tls is not None:
            return self._given_tls
        context = create_tls_context()
        context.set_alpn_protocols(["http/1.1"])
        return context

    def open_session(self, *, guard: AddressGuard | None = None, seconds: float | None = None) -> HttpSession:
        """A session whose requests must all end within `seconds` of the first one.

        `guard` is for addresses from the operator, such as a package index; their answers prove no internet access.
        """
        return HttpSession(self, guard or self.guard, seconds)

    def render(self, request: Request) -> bytes:
        """The bytes of a request; raise InvalidTarget if a header would break the framing."""
        url = request.url
        host, others = url.origin.authority, []
        for name, value in request.headers:
            check_header(name, value)
            if name.lower() == "host":
                host = value
            else:
                others.append(f"{name}: {value}")
        lines = [f"{request.method} {url.target} HTTP/1.1\r\nhost: {host}", self._own_headers, *others]
        if request.body or request.method in {"POST", "PUT", "PATCH"}:
            lines.append(f"content-length: {len(request.body)}")
        return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + request.body

    async def resolve(self, host: str) -> Sequence[str]:
        """The addresses of a host, not yet checked; raise Unreachable if there are none."""
        return await resolve_host(host, self.resolver)

    async def connect(
        self,
        origin: Origin,
        *,
        addresses: Sequence[str],
        guard: AddressGuard,
        limits: Limits,
        end: float,
    ) -> Connection:
        """A new connection to a checked one of the addresses of the origin, before `end` in the event loop's time."""
        loop = asyncio.get_running_loop()
        vetted = guard.vet(self._accepting.arrange(origin, addresses), origin.port)[:_ADDRESSES]
        failure: WireFailure = Unreachable("the host name has no addresses")
        for position, address in enumerate(vetted):
            share = (end - loop.time()) / (2 if position + 1 < len(vetted) else 1)
            try:
                async with asyncio.timeout(share):
                    connection = await self._dial(origin, address, limits)
            except ssl.SSLError as error:
                raise TlsFailure(tls_detail(error)) from error
            except TimeoutError:
                failure = TimedOut(f"no connection within {limits.connect:g} s", connected=False)
            except OSError as error:
                failure = Unreachable(_UNREACHABLE.get(error.errno or 0, "the connection failed"))
            else:
                if position:
                    self._accepting.record(origin, address)
                return connection
        raise failure

    async def _dial(self, origin: Origin, address: str, limits: Limits) -> Connection:
        if origin.scheme != "https":
            return await self._dial_with(None, origin, address, limits)
        if (session := self.tls_sessions.find(origin)) is not None:
            try:
                async with asyncio.timeout(limits.connect / 4):
                    return await self._dial_with(ResumingContext(self._tls, session), origin, address, limits)
            except (ssl.SSLError, ConnectionResetError, ConnectionAbortedError, TimeoutError):
                self.tls_sessions.withhold(origin)  # what the server cannot do with a session it may do without one
        connection = await self._dial_with(self._tls, origin, address, limits)
        self.tls_sessions.record_handshake(origin)
        return connection

    async def _dial_with(
        self, tls: ssl.SSLContext | ResumingContext | None, origin: Origin, address: str, limits: Limits
    ) -> Connection:
        dial, port = self._given_dial, origin.port
        where: dict[str, Any] = {"sock": await dial(port)} if dial else {"host": address, "port": port}
        if tls is not None:
            where.update(ssl=tls, server_hostname=origin.host)
        _, connection = await asyncio.get_running_loop().create_connection(lambda: Connection(limits), **where)
        return connection


class HttpSession:
    """Connections of one probe or client, kept alive per origin; leaving the context closes them all."""

    def __init__(self, engine: HttpEngine, guard: AddressGuard, seconds: float | None) -> None:
        self.engine = engine
        self.guard = guard
        self.seconds = seconds
        self._end: float | None = None
        self._idle: dict[Origin, list[Connection]] = {}
        self._busy: set[Connection] = set()
        self._resolved: dict[str, Sequence[str]] = {}
        self._private: set[str] = set()  # hosts that have private addresses only
        self.requests = 0  # that were sent so far, also without success

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def is_private(self, origin: Origin) -> bool:
        """True if the session may use private addresses and the origin has no others: the operator's own target."""
        if not self.guard.allow_private:
            return False
        limits = self.engine.limits
        try:
            found = await self._resolve(origin.host, limits, asyncio.get_running_loop().time() + limits.connect)
        except WireFailure:
            return False
        return all(classify_address(address) == "private" for address in found)

    def close(self) -> None:
        for connection in [*self._busy, *(one for idle in self._idle.values() for one in idle)]:
            connection.abort()
        self._busy.clear()
        self._idle.clear()

    async def open(self, request: Request) -> Response:
        """Send a request and wait for the head; read the body from the returned response.

        Once the time of the session is over, raise BudgetSpent: that is no failure of the server.
        """
        host = request.url.origin.host
        try:
            response = await self._open(request)
        except WireFailure as failure:
            await self.attribute_failure(failure, host)
            raise
        if self.engine.outages is not None and self.guard is self.engine.guard and host not in self._private:
            self.engine.outages.record_answer()
        return response

    async def attribute_failure(self, failure: WireFailure, host: str) -> None:
        """Blame this machine for the failure of a host when this machine is offline.

        Failures at a private address are not judged: they need no internet access.
        """
        if self.engine.outages is None or host in self._private or not isinstance(failure, Unreachable | TimedOut):
            return
        if await self.engine.outages.is_offline(host):
            failure.blame_collector()

    async def _open(self, request: Request) -> Response:
        data = self.engine.render(request)
        self.requests += 1
        limits = request.limits or self.engine.limits
        end = asyncio.get_running_loop().time() + limits.total
        deadline = min(end, self._session_end())
        if self.seconds_left <= 0:
            raise BudgetSpent(TIME_OVER)
        while True:
            connection = await self._acquire(request.url.origin, limits, deadline)
            is_bodiless = request.method == "HEAD"
            connection.send(data, limits=limits, deadline=deadline, is_cut=deadline < end, bodiless=is_bodiless)
            head: Head | None = None
            try:
                head = await connection.head()
            except Unreachable:
                if not (connection.responses and connection.silent):
                    raise
            finally:
                if head is None:
                    self._drop(connection)
            if head is not None:
                connection.responses += 1
                return Response(self, request.url.origin, connection, head, limits)
            # The peer closed an idle connection before it received the request: send it on another one.

    async def fetch(self, request: Request) -> FetchedResponse:
        """Send a request and read the complete response."""
        response = await self.open(request)
        try:
            return FetchedResponse(response.head, await response.read_all())
        finally:
            response.close()

    def release(self, origin: Origin, connection: Connection) -> None:
        """Keep a connection whose response was read to its end; close any other."""
        self._busy.discard(connection)
        if origin.scheme == "https" and (tls := connection.tls) is not None:
            self.engine.tls_sessions.keep(origin, tls)
        idle = self._idle.setdefault(origin, [])
        if connection.reusable and len(idle) < _IDLE:
            connection.finish()
            idle.append(connection)
        else:
            connection.abort()

    async def _connect(self, origin: Origin, limits: Limits, deadline: float) -> Connection:
        end = min(deadline, asyncio.get_running_loop().time() + limits.connect)
        try:
            found = await self._resolve(origin.host, limits, end)
            return await self.engine.connect(origin, addresses=found, guard=self.guard, limits=limits, end=end)
        except WireFailure as failure:
            self._resolved.pop(origin.host, None)  # the host may have another address by now
            self.engine.resolver.forget(origin.host)
            if isinstance(failure, TimedOut) and self.seconds_left <= _TIMER_ERROR:
                raise BudgetSpent(TIME_OVER) from failure
            raise

    async def _resolve(self, host: str, limits: Limits, end: float) -> Sequence[str]:
        """The addresses of a host, resolved once per session, so that later connections use the same addresses."""
        if host not in self._resolved:
            try:
                async with asyncio.timeout_at(end):
                    self._resolved[host] = await self.engine.resolve(host)
            except TimeoutError as error:
                raise TimedOut(f"the name was not resolved within {limits.connect:g} s", connected=False) from error
            if all(classify_address(address) == "private" for address in self._resolved[host]):
                self._private.add(host)
        return self._resolved[host]

    def _drop(self, connection: Connection) -> None:
        connection.abort()
        self._busy.discard(connection)

    @property
    def seconds_left(self) -> float:
        """Seconds in which all further requests must end; infinite without a limit."""
        if self.seconds is None or self._end is None:
            return self.seconds if self.seconds is not None else math.inf
        return self._end - asyncio.get_running_loop().time()

    def _session_end(self) -> float:
        """The event loop's time at which all requests must have ended; the first request begins the session's time."""
        if self.seconds is None:
            return math.inf
        if self._end is None:
            self._end = asyncio.get_running_loop().time() + self.seconds
        return self._end

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
    """The head of a response, and its unread body. The caller must call `close`."""

    def __init__(
        self, session: HttpSession, origin: Origin, connection: Connection, head: Head, limits: Limits
    ) -> None:
        self._session = session
        self._origin = origin
        self._connection: Connection | None = connection
        self._limits = limits
        self._decoder: GzipDecoder | IdentityDecoder | None = None
        self.head = head
        self.arrived = connection.arrived  # the event loop's time at which the head, or the part read last, arrived

    async def read(self) -> bytes:
        """The next bytes of the body without content encoding; empty at its end."""
        if self._connection is None:
            return b""
        if self._decoder is None:
            encodings = ",".join(value for name, value in self.head.headers if name == "content-encoding")
            self._decoder = choose_decoder(encodings, self._limits.body_bytes)
        while data := await self._next_chunk(self._connection):
            self.arrived = self._connection.arrived
            if plain := self._decoder.feed(data):
                return plain
        return b""

    async def _next_chunk(self, connection: Connection) -> bytes:
        try:
            return await connection.chunk()
        except WireFailure as failure:
            await self._session.attribute_failure(failure, self._origin.host)
            raise

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
        """Return the connection to the session, or close it if the body was not read to its end."""
        if self._connection is not None:
            self._session.release(self._origin, self._connection)
            self._connection = None
