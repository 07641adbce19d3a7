"""A clock for tests."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class SteppingClock:
    """A clock that a test moves by hand; all readings agree."""

    def __init__(self, start: datetime) -> None:
        self._start = start.astimezone(UTC)
        self._passed = timedelta()

    def step(self, by: timedelta) -> None:
        self._passed += by

    def now(self) -> datetime:
        return self._start + self._passed

    def wall(self) -> datetime:
        return self.now()

    def monotonic(self) -> float:
        return self._passed.total_seconds()

    def since_boot(self) -> float:
        return self.monotonic()
