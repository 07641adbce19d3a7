"""Guarded transports to the user's own package indexes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from msgspec.structs import replace

from crawler.http.address_guard import AddressGuard, classify_address
from crawler.http.engine import HttpEngine
from crawler.http.failures import WireFailure
from crawler.sandbox.toolchain.package_indexes import NpmIndex, PythonIndex, parse_endpoint

if TYPE_CHECKING:
    from crawler.http.adapters import GuardedTransport

# Never dialled, not even for an index that the user configured.
_NEVER: Final = frozenset({"metadata", "link-local", "multicast", "unspecified", "malformed"})


class IndexGuard(AddressGuard, frozen=True):
    """Opens what `AddressGuard` opens, and the `doors` of the user's indexes: addresses with their port.

    A company's index is often on a private network, and serves files at the same address and port. No other private
    address is opened.
    """

    endpoints: frozenset[tuple[str, int]] = frozenset()

    def vet(self, addresses: Sequence[str], port: int) -> tuple[str, ...]:
        """The addresses when each may be dialled; else raise BlockedAddress."""
        others = [address for address in addresses if (address, port) not in self.endpoints]
        if others:
            AddressGuard.vet(self, others, port)
        return tuple(addresses)


async def index_transport(
    engine: HttpEngine, index: NpmIndex | PythonIndex, *, most_bytes: int, seconds: float = 60.0
) -> GuardedTransport:
    """A transport to an index and its files; one body of at most `most_bytes`, one answer in `seconds`.

    It also downloads archives from `Archive.address`. Close it, or the client that holds it.
    """
    from crawler.http.adapters import GuardedTransport  # noqa: PLC0415  with httpx: a scan of a remote reads no index

    found: set[tuple[str, int]] = set()
    for endpoint in {endpoint for url in index.urls if (endpoint := parse_endpoint(url))}:
        try:
            addresses = await engine.resolve(endpoint.host)
        except WireFailure:
            continue  # the request itself reports the failure
        found.update((address, endpoint.port) for address in addresses if classify_address(address) not in _NEVER)
    guard = IndexGuard(allow_private=engine.guard.allow_private, endpoints=frozenset(found))
    limits = replace(engine.limits, total=seconds, wire_bytes=most_bytes, body_bytes=most_bytes)
    return GuardedTransport(engine, guard=guard, limits=limits)
