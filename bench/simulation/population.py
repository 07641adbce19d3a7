"""The simulated servers, their hosts and their behaviour: a pure function of size and seed."""

from __future__ import annotations

import ipaddress
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, Final

DOMAIN: Final = "fleet.example"
NETWORK: Final = ipaddress.ip_network("44.128.0.0/12")
# A port without a listener, and a port that accepts connections and never answers.
CLOSED_PORT: Final = 8444
SILENT_PORT: Final = 8445

# Counted over the official registry's remotes of July 2026: 10,371 addresses without variables on 7,444 hosts.
_COUNTED: Final = 10_371
_LARGE: Final = (1279, 216, 120, 99, 57, 54, 52, 38, 34, 33, 31, 30, 30, 30, 27, 24, 24, 23, 21, 20, 20, 18, 18, 17, 17)
_SMALL: Final = {14: 1, 13: 2, 12: 1, 11: 2, 8: 3, 7: 8, 6: 7, 5: 6, 4: 9, 3: 25, 2: 347}


class Kind(StrEnum):
    """The behaviour of a server."""

    OPEN = "open"
    GATED = "gated"
    HTML = "html"
    MISSING = "missing"
    REFUSED = "refused"
    UNNAMED = "unnamed"
    SILENT = "silent"
    HANGING = "hanging"
    SLUGGISH = "sluggish"


# The census of the same remotes: 58 % open, 27 % gated, 10 % not MCP, 5 % unreachable or slow.
MIX: Final = {
    Kind.OPEN: 58.0,
    Kind.GATED: 27.0,
    Kind.HTML: 5.0,
    Kind.MISSING: 5.0,
    Kind.REFUSED: 2.0,
    Kind.UNNAMED: 1.0,
    Kind.SILENT: 0.8,
    Kind.HANGING: 0.8,
    Kind.SLUGGISH: 0.4,
}
_PORTS: Final = {Kind.REFUSED: CLOSED_PORT, Kind.SILENT: SILENT_PORT}
COLD_SHARE: Final = 0.05
MEDIAN_SECONDS: Final = 0.26
_SPREAD: Final = 0.5


@dataclass(frozen=True)
class Remote:
    """One virtual server. `latency` is its usual time to answer and `cold` what waking it adds, both in seconds."""

    number: int
    host: int
    kind: Kind
    latency: float
    cold: float

    @property
    def host_name(self) -> str:
        """The name in the URL; the name of an unnamed server does not resolve."""
        return f"{'gone' if self.kind is Kind.UNNAMED else 'h'}{self.host}.{DOMAIN}"

    def url(self, scheme: str) -> str:
        """The URL in the registry."""
        port = _PORTS.get(self.kind)
        return f"{scheme}://{self.host_name}{f':{port}' if port else ''}/{self.number}/mcp"


@dataclass(frozen=True)
class Population:
    """`size` servers of a seed, no host with more than `largest` of them; `pace` scales all latencies.

    After them come servers that might delay the others: a host with a `crowd` of open servers, some `sluggish` servers,
    each on a host of its own, and with `loner` one open server on a host of its own. `changed` are the shares of
    servers that change a tool before the second day, the third and so on; the last one holds for all later days.
    """

    size: int
    seed: int = 1
    largest: int = 1279
    pace: float = 1.0
    crowd: int = 0
    sluggish: int = 0
    loner: bool = False
    changed: Sequence[float] = ()

    def count_changes(self, number: int, day: int) -> int:
        """How often a server has changed until a day, counted from 0."""
        shares = [self.changed[min(at, len(self.changed) - 1)] for at in range(day)] if self.changed else []
        return sum(random.Random(f"{self.seed}:{number}:{at}").random() < share for at, share in enumerate(shares))

    @cached_property
    def remotes(self) -> tuple[Remote, ...]:
        """All servers, by number."""
        return tuple(self._remotes())

    def documents(self, scheme: str) -> list[dict[str, Any]]:
        """One server.json per server, as its registry keeps it."""
        return [_document(remote, scheme) for remote in self.remotes]

    def _remotes(self) -> Iterator[Remote]:
        chance = random.Random(f"{self.seed}:population")
        places = [host for host, count in enumerate(host_sizes(self.size, self.largest)) for _ in range(count)]
        chance.shuffle(places)
        kinds = chance.choices(list(MIX), weights=list(MIX.values()), k=self.size)
        for number, (host, kind) in enumerate(zip(places, kinds, strict=True)):
            latency = min(3.0, math.exp(chance.gauss(math.log(MEDIAN_SECONDS), _SPREAD)))
            cold = chance.uniform(2.5, 12.0) if chance.random() < COLD_SHARE else 0.0
            yield Remote(number, host, kind, latency * self.pace, cold * self.pace)
        yield from self._others(len(set(places)))

    def _others(self, hosts: int) -> Iterator[Remote]:
        latency = MEDIAN_SECONDS * self.pace
        places = [(hosts, Kind.OPEN)] * self.crowd
        places += [(hosts + 1 + number, Kind.SLUGGISH) for number in range(self.sluggish)]
        places += [(hosts + 1 + self.sluggish, Kind.OPEN)] * self.loner
        for number, (host, kind) in enumerate(places, self.size):
            yield Remote(number, host, kind, latency, 0.0)


def host_sizes(servers: int, largest: int) -> list[int]:
    """How many of so many servers share each host, largest first, in the registry's proportions."""
    share = servers / _COUNTED
    sizes = [max(1, round(size * share)) for size in _LARGE]
    for size, hosts in _SMALL.items():
        sizes += [size] * round(hosts * share)
    sizes = [min(size, largest) for size in sizes]
    while sum(sizes) > servers:
        sizes.pop()
    return sizes + [1] * (servers - sum(sizes))


def address_of(name: str) -> str | None:
    """The address of a simulated host; None for an unknown name."""
    label, _, domain = name.lower().rstrip(".").partition(".")
    if domain != DOMAIN or label[:1] != "h" or not label[1:].isdigit():
        return None
    return str(NETWORK[int(label[1:]) + 1])


def kinds(remotes: Sequence[Remote]) -> dict[str, int]:
    """How many there are of each kind."""
    return {kind.value: sum(remote.kind is kind for remote in remotes) for kind in Kind}


def _document(remote: Remote, scheme: str) -> dict[str, Any]:
    return {
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": f"example.fleet/server-{remote.number:06}",
        "description": f"Simulated server {remote.number}",
        "version": f"1.{remote.number % 10}.0",
        "remotes": [{"type": "streamable-http", "url": remote.url(scheme)}],
    }
