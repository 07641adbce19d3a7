"""Resolvers of host names to addresses."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from crawler.http.failures import Unreachable

if TYPE_CHECKING:
    import aiodns


class Resolver(Protocol):
    """Resolves host names. The address guard checks the answer, so a resolver need not be trusted."""

    async def resolve(self, host: str) -> Sequence[str]:
        """The addresses in order of preference; raise Unreachable if the name does not resolve."""
        ...


class SystemResolver:
    """`getaddrinfo` of the C library in asyncio's few threads: suitable for a small number of targets."""

    async def resolve(self, host: str) -> Sequence[str]:
        try:
            found = await asyncio.get_running_loop().getaddrinfo(host, None, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise Unreachable("the host name does not resolve") from error
        return [str(entry[4][0]) for entry in found]


class DnsResolver:
    """c-ares on the event loop: suitable for thousands of names, which would queue for the C library's threads."""

    def __init__(self) -> None:
        self._resolver: aiodns.DNSResolver | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def resolve(self, host: str) -> Sequence[str]:
        """The addresses in the order of c-ares (RFC 6724)."""
        import aiodns  # noqa: PLC0415  only for names: many commands resolve none

        loop = asyncio.get_running_loop()
        if self._resolver is None or self._loop is not loop:
            self._resolver, self._loop = aiodns.DNSResolver(), loop
        try:
            found = await self._resolver.getaddrinfo(host, type=socket.SOCK_STREAM)
        except (aiodns.error.DNSError, UnicodeError) as error:
            raise Unreachable("the host name does not resolve") from error
        return [node.addr[0].decode("ascii") for node in found.nodes]

    async def close(self) -> None:
        if self._resolver is not None:
            await self._resolver.close()
            self._resolver = None


async def resolve_host(host: str, resolver: Resolver) -> Sequence[str]:
    """The addresses of a host name or of a literal address; raise Unreachable if there are none."""
    if ":" in host or host[-1:].isdigit():  # a name ends with a letter, and the parser's exception costs more
        try:
            return [str(ipaddress.ip_address(host))]
        except ValueError:
            pass
    addresses = await resolver.resolve(host)
    if not addresses:
        raise Unreachable("the host name has no addresses")
    return addresses
