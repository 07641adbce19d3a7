"""The addresses and ports that may be connected to: an explicit list, since `is_global` is wrong on several Pythons."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, TypeAlias

from msgspec import Struct

from crawler.http.failures import BlockedAddress

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

# IANA special-purpose registries (RFC 6890 and successors). `private` is what `allow_private` opens; the cloud
# metadata addresses are never opened, although two of them lie inside private ranges.
SPECIAL_NETWORKS: Final = (
    ("metadata", "100.100.100.200/32"),
    ("metadata", "fd00:ec2::254/128"),
    ("metadata", "fd20:ce::254/128"),
    ("unspecified", "0.0.0.0/8"),
    ("private", "10.0.0.0/8"),
    ("private", "100.64.0.0/10"),
    ("private", "127.0.0.0/8"),
    ("link-local", "169.254.0.0/16"),
    ("private", "172.16.0.0/12"),
    ("reserved", "192.0.0.0/24"),
    ("reserved", "192.0.2.0/24"),
    ("reserved", "192.31.196.0/24"),
    ("reserved", "192.52.193.0/24"),
    ("reserved", "192.88.99.0/24"),
    ("private", "192.168.0.0/16"),
    ("reserved", "192.175.48.0/24"),
    ("reserved", "198.18.0.0/15"),
    ("reserved", "198.51.100.0/24"),
    ("reserved", "203.0.113.0/24"),
    ("multicast", "224.0.0.0/4"),
    ("reserved", "240.0.0.0/4"),
    ("private", "::1/128"),
    ("private", "fc00::/7"),
    ("link-local", "fe80::/10"),
    ("translated", "64:ff9b::/96"),
    ("translated", "64:ff9b:1::/48"),
    ("translated", "2002::/16"),
    ("multicast", "ff00::/8"),
    ("reserved", "2001::/23"),
    ("reserved", "2001:db8::/32"),
    ("reserved", "2620:4f:8000::/48"),
    ("reserved", "3fff::/20"),
)
_SPECIAL: Final[tuple[tuple[str, Network], ...]] = tuple(
    (name, ipaddress.ip_network(net)) for name, net in SPECIAL_NETWORKS
)
_GLOBAL_V6: Final = ipaddress.ip_network("2000::/3")

# Low ports other than these, and the high ports of services that a stray HTTP request can disturb.
OPEN_LOW_PORTS: Final = frozenset({80, 443})
CLOSED_HIGH_PORTS: Final = frozenset(
    {1433, 1521, 1719, 1720, 1723, 2049, 2375, 2376, 2379, 2380, 3128, 3306, 3389, 3659, 4045, 4190, 5060, 5061}
    | {5432, 5672, 5900, 5984, 6379, *range(6000, 6064), *range(6665, 6670), 6697, 7001, 9042, 9092, 9200, 9300}
    | {10250, 10255, 11211, 25565, 27017, 27018, 50000}
)


class AddressGuard(Struct, frozen=True):
    """The address policy. `allow_private` opens loopback and private networks, for the operator's own targets only."""

    allow_private: bool = False

    def vet(self, addresses: Sequence[str], port: int) -> tuple[str, ...]:
        """The addresses without duplicates; raise BlockedAddress if the policy forbids any of them or the port."""
        kinds = {address: classify_address(address) for address in addresses}
        for kind in kinds.values():
            if kind != "public" and not (kind == "private" and self.allow_private):
                raise BlockedAddress(f"the name leads to a {kind} address")
        if set(kinds.values()) != {"private"}:
            vet_port(port)
        return tuple(kinds)


def vet_port(port: int) -> None:
    """Raise BlockedAddress for a port that on a public host is likely to belong to a service other than HTTP."""
    if port not in OPEN_LOW_PORTS and (port < 1024 or port in CLOSED_HIGH_PORTS):
        raise BlockedAddress(f"port {port} is not probed")


@lru_cache(maxsize=8192)
def classify_address(text: str) -> str:
    """Return `public`, the kind of special network, or `malformed` for a text that is not an IP address."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return "malformed"
    if isinstance(address, ipaddress.IPv6Address):
        if address.scope_id:
            return "link-local"
        if address.ipv4_mapped:
            return classify_address(str(address.ipv4_mapped))
    for kind, network in _SPECIAL:
        if address in network:
            return kind
    return "public" if address.version == 4 or address in _GLOBAL_V6 else "reserved"
