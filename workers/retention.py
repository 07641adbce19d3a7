"""Keeping less of old nights: what is dropped when, in steps that may be interrupted anywhere and repeated.

First the records of old nights, but for one a week; then the bodies that no record needs any more. Receipts stay: each
can still be recomputed from its lines, and lists the digests of the evidence that it rests on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from evidence.store import Store
from evidence.store.retention.garbage_collection import CollectedGarbage
from workers.clock import Clock

RETENTION: Final = timedelta(days=90)
"""For so long every night is kept whole."""

GRACE_PERIOD: Final = timedelta(days=7)
"""Longer than any worker holds a lease: nothing older is written any more."""

SERVERS_PER_STEP: Final = 2_000
"""Visits that are looked at in one transaction."""

BODIES_PER_STEP: Final = 20_000
"""Bodies deleted under the exclusive write lock: some seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionResult:
    """What was dropped, or would be if `dry`: visits by run, and bodies. Of a dry call bodies are not counted."""

    dry: bool
    before: datetime
    visits: dict[str, int]
    swept: CollectedGarbage


ReportProgress = Callable[[str, int], None]


def compact_runs(
    store: Store,
    clock: Clock,
    keep: timedelta = RETENTION,
    *,
    dry: bool = False,
    told: ReportProgress = lambda _run, _visits: None,
) -> CompactionResult:
    """Drop the records of nights older than `keep`, but of one a week, and give up bodies that nothing needs then.

    Never dropped are records of servers with a private finding, and the newest ones of a server. `told` hears how many
    visits of which run went.
    """
    now = clock.wall()
    before = now - max(keep, GRACE_PERIOD)
    visits: dict[str, int] = {}
    for run in store.compaction.list_runs(before):
        visits[run] = store.compaction.count_droppable(run) if dry else _thin(store, run, now)
        told(run, visits[run])
    swept = CollectedGarbage() if dry else _sweep(store, now - GRACE_PERIOD)
    return CompactionResult(dry=dry, before=before, visits=visits, swept=swept)


def _thin(store: Store, run: str, now: datetime) -> int:
    dropped, after = 0, 0
    while True:
        count, last = store.compaction.drop_records(run, now, limit=SERVERS_PER_STEP, after=after)
        dropped += count
        if last is None:
            return dropped
        after = last


def _sweep(store: Store, since: datetime) -> CollectedGarbage:
    marks = store.compaction.mark_blobs()
    swept = CollectedGarbage()
    for part in _parts(list(marks.list_unreferenced())):
        swept += store.compaction.sweep_blobs(marks, part, since)
    return swept


def _parts(unneeded: Sequence[tuple[int, bool]]) -> list[Sequence[tuple[int, bool]]]:
    return [unneeded[start : start + BODIES_PER_STEP] for start in range(0, len(unneeded), BODIES_PER_STEP)]
