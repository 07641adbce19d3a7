"""The fleet's own log of every request, and the proof from it that no host was crowded.

A line is `HOST START END NUMBER METHOD STATUS`: times are seconds of the machine's monotonic clock, which all of its
processes share, from the first byte of the request to just before the last one of the answer, or until the fleet sees
that the client disconnected (status 0). The fleet sees it late, so the measured gap after such a request is too small.
The log also has the stalls of the fleet itself, on a machine whose cores are all busy: a client that disconnected
during a stall may have done so at its beginning.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

# A timer of the event loop counts in whole milliseconds and may fire one early; the log rounds as well.
TOLERANCE: Final = 0.003
SEEN_LATE: Final = 0.05
"""Seconds until a fleet without a stall sees that a client disconnected."""

STALL: Final = "STALL"
_LINE: Final = re.compile(r"(\S+) (\d+\.\d+) (\d+\.\d+) (-?\d+) (\S+) (\d+)")


@dataclass(frozen=True, slots=True)
class Access:
    """One request as the fleet saw it."""

    host: str
    start: float
    end: float
    number: int
    method: str
    status: int

    def line(self) -> str:
        """As it stands in the log."""
        return f"{self.host} {self.start:.6f} {self.end:.6f} {self.number} {self.method} {self.status}\n"


@dataclass(frozen=True, slots=True)
class Stall:
    """Seconds of the clock between which a process of the fleet saw nothing."""

    start: float
    end: float

    def line(self) -> str:
        """As it stands in the log."""
        return Access("-", self.start, self.end, -1, STALL, 0).line()


@dataclass(frozen=True, slots=True)
class Crowding:
    """Two requests to one host that were closer than they may be; `distance` is negative when they overlapped."""

    first: Access
    second: Access
    distance: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """The check of a log: requests, hosts, and every pair that was too close."""

    requests: int
    hosts: int
    neighbours: int
    closest: float | None
    crowded: tuple[Crowding, ...]
    seen_late: int = 0


def read(paths: Iterable[Path]) -> list[Access]:
    """All requests of some logs; ValueError for a malformed line."""
    return [access for access in _lines(paths) if access.method != STALL]


def read_stalls(paths: Iterable[Path]) -> list[Stall]:
    """The stalls of the processes that wrote some logs."""
    return [Stall(access.start, access.end) for access in _lines(paths) if access.method == STALL]


def check(accesses: Sequence[Access], gap: float, stalls: Sequence[Stall] = ()) -> Verdict:
    """Every pair of neighbours at one host must be at least `gap` seconds apart, end to start.

    `seen_late` counts pairs that are too close only because the earlier client disconnected during a stall.
    """
    by_host: dict[str, list[Access]] = defaultdict(list)
    for access in accesses:
        by_host[access.host].append(access)
    crowded: list[Crowding] = []
    closest: float | None = None
    late = 0
    for visits in by_host.values():
        visits.sort(key=lambda access: access.start)
        last = visits[0]
        for visit in visits[1:]:
            distance = visit.start - last.end
            if last.status:
                closest = distance if closest is None else min(closest, distance)
            if distance < gap - (TOLERANCE if last.status else SEEN_LATE):
                if not last.status and distance + _unseen_seconds(last, stalls) >= gap - SEEN_LATE:
                    late += 1
                else:
                    crowded.append(Crowding(last, visit, distance))
            last = visit if visit.end > last.end else last
    return Verdict(len(accesses), len(by_host), len(accesses) - len(by_host), closest, tuple(crowded), late)


def _unseen_seconds(disconnected: Access, stalls: Sequence[Stall]) -> float:
    """Seconds by which a stall may have delayed the end that the log has for a disconnected client."""
    before = (stall for stall in stalls if stall.start < disconnected.end <= stall.end + SEEN_LATE)
    return max((disconnected.end - max(stall.start, disconnected.start) for stall in before), default=0.0)


def _lines(paths: Iterable[Path]) -> Iterator[Access]:
    return (_parse(line) for path in paths for line in path.read_text().splitlines())


def _parse(line: str) -> Access:
    found = _LINE.fullmatch(line)
    if found is None:
        raise ValueError(f"not a line of the access log: {line[:100]!r}")
    host, start, end, number, method, status = found.groups()
    return Access(host, float(start), float(end), int(number), method, int(status))
