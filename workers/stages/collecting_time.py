"""The time in which all collectors of a scan must be done."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from crawler.http.deadlines import limit_duration
from evidence.model import Absent, Reason


class TimeLeft:
    """The seconds that the collectors of one scan may still take together.

    They are seconds on the wall clock. With `installing`, the waits that `pause_deadline` excludes do not count:
    installing a package has time limits of its own.
    """

    def __init__(self, seconds: float, *, installing: bool = False) -> None:
        self.seconds = seconds
        self._given = seconds
        self.installing = installing

    @property
    def is_over(self) -> bool:
        return self.seconds <= 0

    def split(self) -> TimeLeft:
        """As many seconds, for what is done at the same time."""
        other = TimeLeft(self._given, installing=self.installing)
        other.seconds = self.seconds
        return other

    @property
    def absence(self) -> Absent:
        """The reason of what was not collected in time; the deadline is ours, so it is no fault of the server."""
        return Absent(Reason.NOT_COLLECTED, f"the {self._given:g} s of this scan were over")

    @asynccontextmanager
    async def limit(self, most: float) -> AsyncIterator[None]:
        """Raise TimeoutError when the block takes longer than is left, or than `most` without the excluded waits."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        wall = None if self.installing else self.seconds
        try:
            async with asyncio.timeout(wall), limit_duration(min(most, self.seconds)) as limit:
                yield
        finally:
            self.seconds -= loop.time() - began - (limit.paused if self.installing else 0.0)
