"""Responses to outsiders' issues and pull requests: medians over a bounded sample of the newest of a year."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from statistics import median
from typing import Final

from msgspec import Struct

from crawler.collectors.repository.parsing.contributors import MAINTAINERS, Person
from evidence.canonical import Json

YEAR: Final = timedelta(days=365)


class ThreadEvent(Struct, frozen=True):
    """One event of a thread: its time, its person, and their association with the repository."""

    at: datetime
    by: Person | None
    association: str


class Thread(Struct, frozen=True, kw_only=True):
    """An issue or a pull request. `is_complete` is false when some of its events may not have been read."""

    opened: datetime
    closed: datetime | None
    author: Person | None
    association: str
    events: tuple[ThreadEvent, ...] = ()
    is_complete: bool = True

    @property
    def is_from_outsider(self) -> bool:
        """True when it was opened by neither a maintainer nor a bot."""
        return self.association not in MAINTAINERS and not (self.author and self.author.bot)

    @property
    def answer(self) -> datetime | None:
        """The first event by a maintainer who is neither a bot nor the author."""
        answers = [event.at for event in self.events if self._answers(event) and event.at >= self.opened]
        return min(answers, default=None)

    def _answers(self, event: ThreadEvent) -> bool:
        if event.association not in MAINTAINERS or event.by is None or event.by.bot:
            return False
        return self.author is None or event.by.login.lower() != self.author.login.lower()


def summarise_threads(newest: Sequence[Thread], total: int | None, now: datetime) -> Json:
    """The body's THREADS from the newest threads of a repository, which has `total`."""
    since = now - YEAR
    recent = [thread for thread in newest if since <= thread.opened <= now]
    reaches_back = any(thread.opened < since for thread in newest) or (total is not None and total <= len(newest))
    # An incomplete thread without an answer may have been answered in an event that was not read: it is left out.
    outside = [thread for thread in recent if thread.is_from_outsider]
    sample = [thread for thread in outside if thread.is_complete or thread.answer is not None]
    responses = [_seconds(thread.opened, thread.answer) for thread in sample if thread.answer is not None]
    closings = [_seconds(thread.opened, thread.closed) for thread in sample if thread.closed is not None]
    return {
        "sampled": len(sample),
        "opened_year": len(recent) if reaches_back else None,
        "answered": len(responses),
        "median_response_s": int(median(responses)) if responses else None,
        "median_close_s": int(median(closings)) if closings else None,
        "unanswered": len(sample) - len(responses),
    }


def _seconds(start: datetime, end: datetime) -> int:
    return max(0, int((end - start).total_seconds()))
