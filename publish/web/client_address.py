"""Finds the client's address: the peer, or the address that a trusted proxy forwards."""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final

from starlette.types import Scope

UNKNOWN_ADDRESS: Final = "unknown"
_FORWARDED: Final = b"x-forwarded-for"
_PREFIX: Final = 64


def client_address(scope: Scope, proxies: Sequence[IPv4Network | IPv6Network]) -> str:
    """The client of a request. Of X-Forwarded-For only what trusted proxies appended counts, read from its end.

    Addresses of IPv6 are those of their /64: one subscriber has all of it.
    """
    peer = _parse((scope.get("client") or (UNKNOWN_ADDRESS, 0))[0])
    hops = [hop for name, value in scope["headers"] if name == _FORWARDED for hop in value.decode("latin-1").split(",")]
    while peer is not None and hops and any(peer in network for network in proxies):
        before = _parse(hops.pop())
        if before is None:
            break
        peer = before
    return UNKNOWN_ADDRESS if peer is None else _subscriber(peer)


def _parse(text: str) -> IPv4Address | IPv6Address | None:
    try:
        found = ip_address(text.strip())
    except ValueError:
        return None
    return (found.ipv4_mapped or found) if isinstance(found, IPv6Address) else found


def _subscriber(address: IPv4Address | IPv6Address) -> str:
    if isinstance(address, IPv4Address):
        return str(address)
    return str(ip_network((int(address), _PREFIX), strict=False).network_address)
