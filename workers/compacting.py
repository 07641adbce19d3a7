"""Keeping less of old nights: what is dropped when, in steps that may be interrupted anywhere and repeated.

First the records of old nights, but for one a week; then the bodies that no record needs any more. Receipts stay: each
can still be recomputed from its lines, and lists the digests of the evidence that it rests on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Protocol

from evidence.store import Store
from evidence.store.sweeping import Swept

KEEP: Final = timedelta(days=90)
"""For so long every night is kept whole."""

LATE: Final = timedelta(days=7)
"""No worker holds a server for so long: what is older is written by nobody any more."""

SERVERS: Final = 2_000
"""Visits that are looked at in one transaction."""

BODIES: Final = 20_000
"""Bodies that are given up while nobody writes: some seconds."""


class Wall(Protocol):
    """Real time."""

    def wall(self) -> datetime:
        """Real UTC time."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """What was dropped, or would be if `dry`: visits by run, and bodies. Of a dry call bodies are not counted."""

    dry: bool
    before: datetime
    visits: dict[str, int]
    swept: Swept


Told = Callable[[str, int], None]


def compact(
    store: Store, clock: Wall, keep: timedelta = KEEP, *, dry: bool = False, told: Told = lambda _run, _visits: None
) -> Compacted:
    """Drop the records of nights older than `keep`, but of one a week, and give up bodies that nothing needs then.

    Never dropped are records of servers with a private finding, and the newest ones of a server. `told` hears how many
    visits of which run went.
    """
    now = clock.wall()
    before = now - max(keep, LATE)
    visits: dict[str, int] = {}
    for run in store.compacting.runs(before):
        visits[run] = store.compacting.droppable(run) if dry else _thin(store, run, now)
        told(run, visits[run])
    swept = Swept() if dry else _sweep(store, now - LATE)
    return Compacted(dry=dry, before=before, visits=visits, swept=swept)


def _thin(store: Store, run: str, now: datetime) -> int:
    dropped, after = 0, 0
    while True:
        count, last = store.compacting.thin(run, now, limit=SERVERS, after=after)
        dropped += count
        if last is None:
            return dropped
        after = last


def _sweep(store: Store, since: datetime) -> Swept:
    marks = store.compacting.marks()
    swept = Swept()
    for part in _parts(list(marks.unneeded())):
        swept += store.compacting.sweep(marks, part, since)
    return swept


def _parts(unneeded: Sequence[tuple[int, bool]]) -> list[Sequence[tuple[int, bool]]]:
    return [unneeded[start : start + BODIES] for start in range(0, len(unneeded), BODIES)]
