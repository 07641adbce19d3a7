"""The time in which all processes of one server are asked, over all of its starts."""

from __future__ import annotations

from typing import Final

_MIN_SECONDS: Final = 0.5  # seconds; with less time left no process is started


class AskingTime:
    """The seconds that the processes of one server may still be asked together, without the time to install it."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    @property
    def is_over(self) -> bool:
        """Whether too little is left to start a process."""
        return self.seconds < _MIN_SECONDS

    def spend(self, seconds: float) -> None:
        self.seconds -= seconds
