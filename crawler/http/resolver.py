"""Resolvers of host names to addresses."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final, Protocol

from crawler.http.failures import Unreachable
from crawler.http.url import Origin

if TYPE_CHECKING:
    import aiodns


_ORIGINS: Final = 4096  # or hosts, that are remembered
_FRESH: Final = 30.0  # seconds: a host with many servers would be looked up for each of them


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


class AcceptingAddresses:
    """The address of each origin that accepted a connection after another one had failed. It is tried first from then
    on (RFC 8305, section 4): a host whose IPv6 address is silent would cost seconds for every connection.
    """

    def __init__(self) -> None:
        self._origins: OrderedDict[Origin, str] = OrderedDict()

    def arrange(self, origin: Origin, addresses: Sequence[str]) -> Sequence[str]:
        """The same addresses in the order in which to try them."""
        accepting = self._origins.get(origin)
        if accepting is None or accepting not in addresses:
            return addresses
        return [accepting, *(address for address in addresses if address != accepting)]

    def record(self, origin: Origin, address: str) -> None:
        """Note that an address accepted a connection, after the one before it had not."""
        self._origins[origin] = address
        if len(self._origins) > _ORIGINS:
            self._origins.popitem(last=False)


class RecentAnswers:
    """A resolver that keeps the answers of another one for 30 s. `clock` is a monotonic one in seconds."""

    def __init__(self, resolver: Resolver, clock: Callable[[], float] = time.monotonic) -> None:
        self._resolver = resolver
        self._clock = clock
        self._answers: OrderedDict[str, tuple[float, Sequence[str]]] = OrderedDict()

    async def resolve(self, host: str) -> Sequence[str]:
        known = self._answers.get(host)
        if known is not None and self._clock() - known[0] < _FRESH:
            return known[1]
        found = await self._resolver.resolve(host)
        self._answers[host] = self._clock(), found
        self._answers.move_to_end(host)
        if len(self._answers) > _ORIGINS:
            self._answers.popitem(last=False)
        return found

    def forget(self, host: str) -> None:
        """Have a host looked up again: no address of it accepted a connection."""
        self._answers.pop(host, None)


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
