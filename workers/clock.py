"""Clocks: where the dates of evidence and the deadlines of work come from."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Final, Protocol


class Clock(Protocol):
    """`now` dates what is recorded; `wall` is real time, shared by processes; `monotonic` measures durations."""

    def now(self) -> datetime:
        """The date that evidence, runs and scorecards carry; timezone-aware UTC."""

    def wall(self) -> datetime:
        """Real UTC time, for leases that other processes read."""

    def monotonic(self) -> float:
        """Seconds from an arbitrary start, for durations and deadlines of this process."""

    def since_boot(self) -> float:
        """Seconds from an arbitrary start that include the time in which the machine was suspended."""


# Elsewhere than on Linux the monotonic clock of POSIX counts the time of a suspension itself.
_BOOT_CLOCK: Final[int] = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class SystemClock:
    """Real time."""

    def now(self) -> datetime:
        return datetime.now(UTC)  # noqa: TID251

    def wall(self) -> datetime:
        return datetime.now(UTC)  # noqa: TID251

    def monotonic(self) -> float:
        return time.monotonic()

    def since_boot(self) -> float:
        return time.clock_gettime(_BOOT_CLOCK)


class FixedClock(SystemClock):
    """One date for everything that is recorded, so that two runs can be compared; real time for everything else."""

    def __init__(self, at: datetime) -> None:
        self._at = at.astimezone(UTC)

    def now(self) -> datetime:
        return self._at


def clock_at(fixed: datetime | None) -> Clock:
    """The clock of these settings: fixed when a test set a date, else real."""
    return SystemClock() if fixed is None else FixedClock(fixed)
