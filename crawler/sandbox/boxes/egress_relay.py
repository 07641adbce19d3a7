"""The only network access of a box, for installations and for servers that a person allows: a proxy with an allow-list.

The proxy runs on the host and listens inside the network namespace of the box. It checks https by the CONNECT request
and by the TLS server name, without decrypting it, and plain http (loopback mirrors) by the absolute request line.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
import ssl
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec import field as struct_field

from crawler.http.address_guard import classify_address
from crawler.sandbox.toolchain.index_credentials import IndexCredentials
from crawler.sandbox.toolchain.package_indexes import Endpoint, parse_endpoint

if TYPE_CHECKING:
    from crawler.sandbox.boxes.private_indexes import Authority, PrivateIndexes

PORT = 3128
HEAD_CAP = 16384
REQUEST_SECONDS = 15.0
CHUNK = 262144
DOWNLOAD_CAP = 1 << 30
TLS_HANDSHAKE = 22
STUB_ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}"
"""The answer to every request to a stub: an empty JSON object."""


class RefusedError(Exception):
    """The box requested an endpoint that is not allowed."""


@dataclass(frozen=True, slots=True)
class AllowedEndpoints:
    """The endpoints that a box may reach: `configured` by the user, and `learned`, which must have public addresses.

    For an installation, those are the user's package indexes, and the file hosts named in their responses, with the
    credentials of private indexes. `stubs` are not contacted: the relay itself answers for them.
    """

    configured: frozenset[Endpoint]
    learned: frozenset[Endpoint] = frozenset()
    credentials: IndexCredentials = field(default_factory=IndexCredentials, repr=False)
    stubs: frozenset[Endpoint] = frozenset()

    def admits(self, wanted: Endpoint) -> bool:
        return wanted in self.configured or wanted in self.learned or wanted in self.stubs


NO_ENDPOINTS = AllowedEndpoints(frozenset())


class EgressRelay(Struct):
    """Relays the connections of one box.

    `authority` signs the certificates of stubs. `refused` lists the refused requests, `failed` counts hosts that could
    not be reached, `received` counts bytes.
    """

    allowed: AllowedEndpoints
    cap: int = DOWNLOAD_CAP
    private: PrivateIndexes | None = None
    authority: Authority | None = None
    refused: list[str] = struct_field(default_factory=list)
    failed: int = 0
    received: int = 0
    _addresses: dict[Endpoint, asyncio.Future[list[str]]] = struct_field(default_factory=dict)
    _handling: set[asyncio.Task[None]] = struct_field(default_factory=set)
    _server: asyncio.Server | None = None

    async def serve(self, listener: socket.socket) -> asyncio.Server:
        """Accept connections on a listening socket."""
        listener.setblocking(False)
        self._server = await asyncio.start_server(self._handle, sock=listener, limit=HEAD_CAP)
        return self._server

    async def close(self) -> None:
        """Stop listening and cancel open connections, which a silent host would keep open for ever."""
        if self._server is not None:
            self._server.close()
        pending = list(self._handling)
        for task in pending:
            task.cancel()
        await asyncio.gather(*pending, return_exceptions=True)

    async def _handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._handling.add(task)
        task.add_done_callback(self._handling.discard)
        try:
            await self._relay(reader, writer)
        except RefusedError as error:
            self.refused.append(str(error))
            with contextlib.suppress(OSError):
                writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        except (OSError, EOFError, TimeoutError, ValueError, asyncio.LimitOverrunError, asyncio.CancelledError):
            pass  # cancelled by `close`: Python 3.11 would log the cancelled task of a connection as an error
        finally:
            writer.close()
            with contextlib.suppress(OSError, asyncio.CancelledError):
                await writer.wait_closed()

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(REQUEST_SECONDS):
            head = await reader.readuntil(b"\r\n\r\n")
            method, _, rest = head.decode("latin-1").partition(" ")
            address, _, _ = rest.partition(" ")
            if method == "CONNECT":
                wanted = self._check_allowed(parse_endpoint(f"https://{address}"), address)
                writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
                private = self._find_private(wanted)
                if self.authority and wanted in self.allowed.stubs:
                    await writer.start_tls(self.authority.context(wanted.host))
                    await _answer_stub(reader, writer)
                    return
                if private:
                    await writer.start_tls(private.authority.context(wanted.host))
                    first = self._authorise(private, await reader.readuntil(b"\r\n\r\n"), wanted)
                else:
                    first = await _client_hello(reader, wanted)
            else:
                asked = parse_endpoint(address)
                wanted = self._check_allowed(asked if asked and asked.scheme == "http" else None, address)
                first = _origin_form(head)
                if private := self._find_private(wanted):
                    first = self._authorise(private, first, wanted)
            upstream = await self._connect(wanted, private.upstream if private and method == "CONNECT" else None)
        await self._splice((reader, writer), upstream, first)

    def _find_private(self, wanted: Endpoint) -> PrivateIndexes | None:
        return self.private if self.private and self.private.covers(wanted) else None

    def _authorise(self, private: PrivateIndexes, head: bytes, wanted: Endpoint) -> bytes:
        request = private.authorise(head, wanted)
        if request is None:
            raise RefusedError("a request to a private index that is not plain")
        return request

    def _check_allowed(self, wanted: Endpoint | None, address: str) -> Endpoint:
        if wanted is None or not self.allowed.admits(wanted):
            raise RefusedError(address[:200])
        return wanted

    async def _connect(
        self, wanted: Endpoint, tls: ssl.SSLContext | None
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        failure: OSError | None = None
        try:
            addresses = await self._resolve(wanted)
            if wanted not in self.allowed.configured:
                await self._vet(wanted, addresses)
            for address in addresses:
                try:
                    name = wanted.host if tls else None
                    return await asyncio.open_connection(address, wanted.port, ssl=tls, server_hostname=name)
                except OSError as error:
                    failure = error
            raise failure or OSError("no address")
        except (OSError, asyncio.CancelledError):  # CancelledError: the time limit
            self.failed += 1
            raise

    async def _resolve(self, wanted: Endpoint) -> list[str]:
        # One lookup per host and box: bursts of lookups lost responses and stalled for five seconds.
        if wanted not in self._addresses:
            self._addresses[wanted] = asyncio.ensure_future(_lookup(wanted))
        return await asyncio.shield(self._addresses[wanted])

    async def _vet(self, wanted: Endpoint, addresses: list[str]) -> None:
        """Require public addresses of a learned host, unless a configured index is itself in a private network."""
        if all(classify_address(a) == "public" for a in addresses):
            return
        for own in self.allowed.configured:
            if not all(classify_address(a) == "public" for a in await self._resolve(own)):
                return
        raise RefusedError(f"{wanted.host} has a private address")

    async def _splice(
        self,
        inner: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        outer: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        first: bytes,
    ) -> None:
        try:
            outer[1].write(first)
            async with asyncio.TaskGroup() as group:
                group.create_task(_pump(inner[0], outer[1]))
                group.create_task(self._download(outer[0], inner[1]))
        except* OSError:
            pass
        finally:
            outer[1].close()

    async def _download(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(CHUNK):
            self.received += len(data)
            if self.received > self.cap:
                raise ConnectionAbortedError("download limit")
            writer.write(data)
            await writer.drain()
        writer.close()


async def _answer_stub(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await reader.readuntil(b"\r\n\r\n")
    writer.write(STUB_ANSWER)
    await writer.drain()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(CHUNK):
        writer.write(data)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()


async def _lookup(wanted: Endpoint) -> list[str]:
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(wanted.host, wanted.port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


async def _client_hello(reader: asyncio.StreamReader, wanted: Endpoint) -> bytes:
    head = await reader.readexactly(5)
    if head[0] != TLS_HANDSHAKE:
        raise RefusedError("not TLS")
    hello = head + await reader.readexactly(int.from_bytes(head[3:5], "big"))
    name = parse_server_name(hello)
    if (name is None and not _is_address(wanted.host)) or (name is not None and name != wanted.host):
        raise RefusedError(f"TLS server name {name}")
    return hello


def parse_server_name(hello: bytes) -> str | None:
    """The server name of a TLS ClientHello record (RFC 6066), or None; raises ValueError for a malformed record."""
    try:
        at = 5 + 4 + 2 + 32
        at += 1 + hello[at]
        at += 2 + int.from_bytes(hello[at : at + 2], "big")
        at += 1 + hello[at]
        end = at + 2 + int.from_bytes(hello[at : at + 2], "big")
        at += 2
        while at + 4 <= min(end, len(hello)):
            kind, length = int.from_bytes(hello[at : at + 2], "big"), int.from_bytes(hello[at + 2 : at + 4], "big")
            if kind == 0:
                size = int.from_bytes(hello[at + 7 : at + 9], "big")
                return hello[at + 9 : at + 9 + size].decode("ascii").lower()
            at += 4 + length
    except IndexError as error:
        raise ValueError("malformed ClientHello") from error
    return None


def _origin_form(head: bytes) -> bytes:
    """The request with a path instead of an absolute URL, and with `Connection: close`."""
    line, _, rest = head.decode("latin-1").partition("\r\n")
    method, address, version = line.split(" ", 2)
    parts = urlsplit(address)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    kept = [h for h in rest.split("\r\n") if h and not h.lower().startswith(("connection:", "proxy-"))]
    return "\r\n".join([f"{method} {path} {version}", *kept, "Connection: close", "", ""]).encode("latin-1")


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
