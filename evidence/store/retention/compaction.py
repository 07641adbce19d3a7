"""The part of the Store that keeps less of old nights: each method is one short transaction, and may be repeated."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from evidence.store.database import Database
from evidence.store.retention import garbage_collection, record_retention
from evidence.store.retention.garbage_collection import BlobMarks, CollectedGarbage
from evidence.store.retention.record_retention import DroppedRecords


class Compaction:
    """Thins old runs and sweeps what nothing needs. See workers/retention.py for the order."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def list_runs(self, before: datetime) -> list[str]:
        """Runs over since before a moment of which records are still to be dropped, oldest first."""
        with self._database.reading() as connection:
            return record_retention.list_runs_to_compact(connection, before)

    def count_droppable(self, run: str) -> int:
        """How many visits of a run would be dropped."""
        with self._database.reading() as connection:
            return record_retention.count_droppable(connection, run)

    def drop_records(self, run: str, at: datetime, *, limit: int, after: int = 0) -> tuple[int, int | None]:
        """Drop visits of a run among the next `limit`: how many, and where to go on, None when it is done."""
        with self._database.writing() as connection:
            return record_retention.drop_records(connection, run, at, limit, after)

    def find_dropped_records(self, run: str) -> DroppedRecords | None:
        """What was dropped of a run; None before anything was looked for."""
        with self._database.reading() as connection:
            return record_retention.find_dropped_records(connection, run)

    def mark_blobs(self) -> BlobMarks:
        """What is needed of all bodies, read run by run."""
        with self._database.reading() as connection:
            marks, runs = garbage_collection.begin_marking(connection), garbage_collection.list_run_keys(connection)
            garbage_collection.mark_registry_entries(connection, marks)
        for run in runs:
            with self._database.reading() as connection:
                garbage_collection.mark_run(connection, marks, run)
        return marks

    def sweep_blobs(self, marks: BlobMarks, part: Sequence[tuple[int, bool]], since: datetime) -> CollectedGarbage:
        """Delete the bodies of a part that no write since `since` needs either, under the exclusive write lock."""
        with self._database.exclusive_writing() as connection:
            return garbage_collection.sweep_blobs(connection, marks, part, since)
