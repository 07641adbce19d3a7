"""Schedules a run's servers per host within the host's daily budget."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import Final, TypeAlias

from msgspec import Struct

from evidence.canonical import sha256
from evidence.model import Server, ServerId
from evidence.store.servers.hosts import find_host

MEAN_LATENCY: Final = 0.3
"""Average seconds to an answer (docs/scale.md)."""

MIN_REQUESTS: Final = 2
"""Requests of the shortest probe: that of a server which refuses access."""

_NEVER: Final = datetime.min.replace(tzinfo=UTC)
_SECOND: Final = timedelta(seconds=1)

ReadLastProbed: TypeAlias = Callable[[Sequence[ServerId]], Mapping[ServerId, datetime]]
"""When each of the servers was collected last; servers that never were are left out."""


class HostPace(Struct, frozen=True, kw_only=True):
    """The load allowed per host and run: `requests` of each server with `gap` seconds between them, within `window`.

    Hosts start at times that differ by up to `spread`. With `no_gap` the servers may be in a private network, and no
    gap is kept.
    """

    gap: float
    requests: float
    window: timedelta
    spread: timedelta = timedelta(0)
    no_gap: bool = False

    def room(self, host: str) -> int:
        """How many servers of a host fit into a run, at least one."""
        return max(1, int(self.window.total_seconds() / (self.requests * (self._gap(host) + MEAN_LATENCY))))

    def step(self, host: str) -> timedelta:
        """Minimum time between the starts of two servers of a host."""
        return timedelta(seconds=MIN_REQUESTS * self._gap(host))

    def _gap(self, host: str) -> float:
        return 0.0 if self.no_gap or _is_loopback(host) else self.gap


class HostSchedule(Struct, frozen=True):
    """Servers that keep their last evidence (`carried`), and for each other one its start after planning.

    Offsets may be negative by less than a second, which only orders the servers.
    """

    carried: frozenset[ServerId]
    offsets: Mapping[ServerId, timedelta]


def schedule_servers(run_id: str, servers: Sequence[Server], read_last: ReadLastProbed, pace: HostPace) -> HostSchedule:
    """Schedule the servers of a nightly run; its id decides the pseudo-random order.

    When a host has more servers than fit, those are scheduled that were collected longest ago, so that each has its
    turn in the fewest runs. Servers of one host follow each other as its gap allows, interleaved with all others.
    """
    carried: set[ServerId] = set()
    offsets: dict[ServerId, timedelta] = {}
    for host, queue in _by_host(servers).items():
        of_host = schedule_host(run_id, host, queue, read_last, pace)
        carried |= of_host.carried
        offsets |= of_host.offsets
    return HostSchedule(frozenset(carried), offsets)


def schedule_host(
    run_id: str, host: str, queue: Sequence[ServerId], read_last: ReadLastProbed, pace: HostPace
) -> HostSchedule:
    """Schedule all servers of one host; servers without a remote have the host "" and wait for no other."""
    scheduled = _select_due(queue, read_last, pace.room(host) if host else len(queue))
    first = _chance(run_id, host) * pace.spread if host else timedelta(0)
    step = pace.step(host) if host else timedelta(0)
    ordered = sorted(scheduled, key=lambda one: _chance(run_id, one))
    offsets = {
        server: first + place * step + (_chance(run_id, server) - 1) * _SECOND for place, server in enumerate(ordered)
    }
    return HostSchedule(frozenset(queue) - offsets.keys(), offsets)


def _by_host(servers: Sequence[Server]) -> dict[str, list[ServerId]]:
    """Servers by the host of their first remote; servers without a remote have the key ""."""
    found: dict[str, list[ServerId]] = {}
    for server in servers:
        found.setdefault(find_host(server), []).append(server.id)
    return found


def _select_due(queue: Sequence[ServerId], read_last: ReadLastProbed, room: int) -> Sequence[ServerId]:
    if len(queue) <= room:
        return queue
    last = read_last(queue)
    return sorted(queue, key=lambda server: (last.get(server, _NEVER), _chance("", server), server))[:room]


def _chance(run_id: str, name: str) -> float:
    """A pseudo-random number in [0, 1) that follows from both names."""
    return int(sha256(f"{run_id}\0{name}".encode())[:13], 16) / 16**13


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
