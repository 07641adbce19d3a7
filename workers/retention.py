"""Compaction of final and old runs, in steps that may be interrupted anywhere and repeated.

The done items of a final run become counts; publication does this at once, compaction does what it left.
Then the records of old runs are dropped, except for one run per week; then the bodies that no record refers to.
Receipts stay: each can be recomputed from its lines and lists the digests of its evidence.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct

from evidence.store import Stage, Store
from evidence.store.retention.garbage_collection import CollectedGarbage
from workers.clock import Clock

RETENTION: Final = timedelta(days=90)
"""Every run younger than this is kept whole."""

GRACE_PERIOD: Final = timedelta(days=7)
"""Longer than any worker holds a lease: no worker writes to an older run."""

ITEMS_PER_STEP: Final = 10_000
"""Items of a run that one transaction checks: some tenths of a second."""

SERVERS_PER_STEP: Final = 2_000
"""Servers of a run whose records one transaction checks."""

BODIES_PER_STEP: Final = 20_000
"""Bodies deleted under the exclusive write lock: some seconds."""


class CompactionResult(Struct, frozen=True, kw_only=True):
    """What was dropped, or would be if `dry`: `record_sets` counts servers by run, `swept` bodies (empty if `dry`)."""

    dry: bool
    before: datetime
    record_sets: dict[str, int]
    swept: CollectedGarbage


ReportProgress = Callable[[str, int], None]


def drop_done_items(store: Store, run: str) -> None:
    """Replace the done items of a final run by their counts."""
    for stage in Stage:
        after: int | None = 0
        while after is not None:
            after = store.compaction.drop_done_items(run, stage, limit=ITEMS_PER_STEP, after=after)


def compact_runs(
    store: Store,
    clock: Clock,
    keep: timedelta = RETENTION,
    *,
    dry: bool = False,
    progress: ReportProgress = lambda _run, _record_sets: None,
) -> CompactionResult:
    """Drop done items, the records of runs older than `keep` but one run per week, older opinions, and unused bodies.

    Records of servers with a private finding and the newest records of each server are never dropped. `progress` gets
    each run and the number of its servers whose records were dropped.
    """
    now = clock.wall()
    before = now - max(keep, GRACE_PERIOD)
    for run in () if dry else store.compaction.list_runs_with_done_items():
        drop_done_items(store, run)
    record_sets: dict[str, int] = {}
    for run in store.compaction.list_runs(before):
        record_sets[run] = store.compaction.count_droppable(run) if dry else _drop_records(store, run, now)
        progress(run, record_sets[run])
    if not dry:
        store.drop_opinions(before)
    swept = CollectedGarbage() if dry else _delete_unused_bodies(store, now - GRACE_PERIOD)
    return CompactionResult(dry=dry, before=before, record_sets=record_sets, swept=swept)


def _drop_records(store: Store, run: str, now: datetime) -> int:
    dropped, after = 0, 0
    while True:
        count, last = store.compaction.drop_records(run, now, limit=SERVERS_PER_STEP, after=after)
        dropped += count
        if last is None:
            return dropped
        after = last


def _delete_unused_bodies(store: Store, since: datetime) -> CollectedGarbage:
    marks = store.compaction.mark_blobs()
    unused = list(marks.list_unreferenced())
    deleted = CollectedGarbage()
    for start in range(0, len(unused), BODIES_PER_STEP):
        deleted += store.compaction.sweep_blobs(marks, unused[start : start + BODIES_PER_STEP], since)
    return deleted
