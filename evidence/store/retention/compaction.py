"""Compaction: drops items of final runs, records of old ones and blobs without references. Methods may be repeated."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from evidence.store.retention import garbage_collection, item_retention, record_retention
from evidence.store.retention.garbage_collection import BlobMarks, CollectedGarbage
from evidence.store.transactions import DatabaseAccess, read_method, write_method


class Compaction(DatabaseAccess):
    """The compaction of one database, in short transactions. workers/retention.py has the order of the steps."""

    list_runs_with_done_items = read_method(item_retention.list_runs_with_done_items)
    drop_done_items = write_method(item_retention.drop_done_items)
    list_runs = read_method(record_retention.list_runs_to_compact)
    count_droppable = read_method(record_retention.count_droppable)
    drop_records = write_method(record_retention.drop_records)
    find_dropped_records = read_method(record_retention.find_dropped_records)

    def mark_blobs(self) -> BlobMarks:
        """Mark which bodies are needed, in one transaction for each run."""
        with self._database.reading() as connection:
            marks, runs = garbage_collection.begin_marking(connection), garbage_collection.list_run_keys(connection)
            garbage_collection.mark_registry_entries(connection, marks)
        for run in runs:
            with self._database.reading() as connection:
                garbage_collection.mark_run(connection, marks, run)
        return marks

    def sweep_blobs(self, marks: BlobMarks, part: Sequence[tuple[int, bool]], since: datetime) -> CollectedGarbage:
        """Drop the bodies of a part that nothing written since `since` needs, under the exclusive write lock."""
        with self._database.exclusive_writing() as connection:
            return garbage_collection.sweep_blobs(connection, marks, part, since)
