"""From a host name to addresses, once per connection."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Sequence
from typing import Protocol

import aiodns

from crawler.http.failures import Unreachable


class Resolver(Protocol):
    """Names to addresses. The answer is vetted by the guard afterwards, so a resolver need not be trusted."""

    async def resolve(self, host: str) -> Sequence[str]:
        """Addresses in order of preference; raise Unreachable when there are none."""
        ...


class SystemResolver:
    """`getaddrinfo` of the C library in asyncio's few threads: right for a handful of targets."""

    async def resolve(self, host: str) -> Sequence[str]:
        """Addresses in the C library's order."""
        try:
            found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise Unreachable("the host name does not resolve") from error
        return [str(entry[4][0]) for entry in found]


class DnsResolver:
    """c-ares on the event loop: right for thousands of names, where the C library's threads would queue."""

    def __init__(self) -> None:
        self._resolver: aiodns.DNSResolver | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def resolve(self, host: str) -> Sequence[str]:
        """Addresses in c-ares' order (RFC 6724); IDN names are asked in their ASCII form."""
        loop = asyncio.get_running_loop()
        if self._resolver is None or self._loop is not loop:
            self._resolver, self._loop = aiodns.DNSResolver(), loop
        try:
            found = await self._resolver.getaddrinfo(host, type=socket.SOCK_STREAM)
        except (aiodns.error.DNSError, UnicodeError) as error:
            raise Unreachable("the host name does not resolve") from error
        return [node.addr[0].decode("ascii") for node in found.nodes]

    async def close(self) -> None:
        """Close c-ares' sockets."""
        if self._resolver is not None:
            await self._resolver.close()
            self._resolver = None


async def resolve_host(host: str, resolver: Resolver) -> Sequence[str]:
    """The addresses of a host, which may be an address itself; raise Unreachable when there are none."""
    try:
        return [str(ipaddress.ip_address(host))]
    except ValueError:
        pass
    addresses = await resolver.resolve(host)
    if not addresses:
        raise Unreachable("the host name has no addresses")
    return addresses
