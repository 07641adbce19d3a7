"""The time in which all collectors of a scan must be done."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from crawler.http.deadlines import limit_duration
from evidence.model import Absent, Reason

_NOT_FINISHED: Final = "not finished"


def was_stopped(absent: Absent) -> bool:
    """Whether this is the reason of what a scan began and stopped at the end of its time."""
    return absent.reason is Reason.NOT_COLLECTED and absent.detail.startswith(_NOT_FINISHED)


class TimeLeft:
    """The seconds that the collectors of one scan may still take together.

    They are seconds on the wall clock. With `installing`, the waits that `pause_deadline` excludes do not count:
    installing a package has time limits of its own. `beside`: what is read about the server is read at the same time,
    in at most `reading` seconds; the default is as for `installing`. `spent` seconds have passed already.
    """

    def __init__(
        self,
        seconds: float,
        *,
        installing: bool = False,
        beside: bool | None = None,
        reading: float | None = None,
        spent: float = 0.0,
    ) -> None:
        self.seconds = seconds - spent
        self.installing = installing
        self.beside = installing if beside is None else beside
        self.given = seconds
        self._reading = seconds if reading is None else reading

    @property
    def is_over(self) -> bool:
        return self.seconds <= 0

    def split(self) -> TimeLeft:
        """The seconds for what is read at the same time."""
        return TimeLeft(self._reading, installing=self.installing, spent=self.given - self.seconds)

    @property
    def not_begun(self) -> Absent:
        """The reason of what was not begun in time; the deadline is ours, so it is no fault of the server."""
        return Absent(Reason.NOT_COLLECTED, f"the {self.given:g} s of this scan were over")

    @property
    def not_finished(self) -> Absent:
        """The reason of what was stopped at the end of the time."""
        return Absent(Reason.NOT_COLLECTED, f"{_NOT_FINISHED} within the {self.given:g} s of this scan")

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
