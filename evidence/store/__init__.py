"""Versioned evidence on SQLite or PostgreSQL. Callers see pure values only; the tables stay inside this package."""

from evidence.store.errors import CorruptBlob, NotMigrated, StoreError, StoreUnavailable, UnknownRun, UnknownServer
from evidence.store.rows import Failure, Progress, RunRow, RunState, Stage, StoredCard, Walk
from evidence.store.store import Store, open_store

__all__ = [
    "CorruptBlob",
    "Failure",
    "NotMigrated",
    "Progress",
    "RunRow",
    "RunState",
    "Stage",
    "Store",
    "StoreError",
    "StoreUnavailable",
    "StoredCard",
    "UnknownRun",
    "UnknownServer",
    "Walk",
    "open_store",
]
