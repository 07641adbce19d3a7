"""How a night is laid out over hosts: whose turn it is at a host that is too big for one night, and in which order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import Final, TypeAlias
from urllib.parse import urlsplit

from evidence.canonical import sha256
from evidence.model import Server, ServerId

MEAN_LATENCY: Final = 0.3
"""Seconds that an answer takes on average (docs/scale.md)."""

MIN_REQUESTS: Final = 2
"""Requests that the quickest visit takes: to a server that is locked and says so."""

_NEVER: Final = datetime.min.replace(tzinfo=UTC)
_SECOND: Final = timedelta(seconds=1)

ReadLastProbed: TypeAlias = Callable[[Sequence[ServerId]], Mapping[ServerId, datetime]]
"""When each of some servers was looked at last; those that never were are left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostPace:
    """What a host can take in a night: `gap` seconds between `requests` of each server, within `window`.

    The hosts have their first turn at times that differ by up to `spread`. `at_home`: servers may be in a private
    network, and no gap is kept.
    """

    gap: float
    requests: float
    window: timedelta
    spread: timedelta = timedelta(0)
    at_home: bool = False

    def room(self, host: str) -> int:
        """How many servers of a host a night has time for, at least one."""
        return max(1, int(self.window.total_seconds() / (self.requests * (self._gap(host) + MEAN_LATENCY))))

    def step(self, host: str) -> timedelta:
        """How long after one server of a host the next one can have its turn at the earliest."""
        return timedelta(seconds=MIN_REQUESTS * self._gap(host))

    def _gap(self, host: str) -> float:
        return 0.0 if self.at_home or _is_loopback(host) else self.gap


@dataclass(frozen=True, slots=True)
class HostSchedule:
    """A night: servers that keep their last evidence, and how long after planning each other one may have its turn.

    Some offsets are negative, by less than a second: they are an order.
    """

    carried: frozenset[ServerId]
    offsets: Mapping[ServerId, timedelta]


def schedule_servers(night: str, servers: Sequence[Server], seen: ReadLastProbed, pace: HostPace) -> HostSchedule:
    """Lay out a night, whose name decides the order.

    Of a host with more servers than a night has room for, those have their turn that were looked at longest ago, so
    that each comes round in the fewest nights possible, whatever comes and goes. Servers of one host follow each other
    as its gap allows, and all others are between them.
    """
    carried: set[ServerId] = set()
    offsets: dict[ServerId, timedelta] = {}
    for host, queue in _by_host(servers).items():
        turn = _whose_turn(queue, seen, pace.room(host) if host else len(queue))
        carried.update(set(queue) - set(turn))
        first = _chance(night, host) * pace.spread if host else timedelta(0)
        step = pace.step(host) if host else timedelta(0)
        for place, server in enumerate(sorted(turn, key=lambda one: _chance(night, one))):
            offsets[server] = first + place * step + (_chance(night, server) - 1) * _SECOND
    return HostSchedule(frozenset(carried), offsets)


def _by_host(servers: Sequence[Server]) -> dict[str, list[ServerId]]:
    """Servers by the host that is asked for them first; by the empty name those that are not asked over the network."""
    found: dict[str, list[ServerId]] = {}
    for server in servers:
        found.setdefault(next(_hosts(server), ""), []).append(server.id)
    return found


def _hosts(server: Server) -> Iterator[str]:
    for target in server.targets:
        if target.type.is_remote:
            try:
                yield urlsplit(target.identifier).hostname or ""
            except ValueError:
                yield ""


def _whose_turn(queue: Sequence[ServerId], seen: ReadLastProbed, room: int) -> Sequence[ServerId]:
    if len(queue) <= room:
        return queue
    last = seen(queue)
    return sorted(queue, key=lambda server: (last.get(server, _NEVER), _chance("", server), server))[:room]


def _chance(night: str, name: str) -> float:
    """A reproducible number in [0, 1)."""
    return int(sha256(f"{night}\0{name}".encode())[:13], 16) / 16**13


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
