"""Versioned evidence on SQLite or PostgreSQL. Callers see pure values only; the tables stay inside this package."""

from evidence.store.errors import (
    CorruptBlob,
    IllegalTransition,
    NotMigrated,
    StoreError,
    StoreUnavailable,
    UnknownFinding,
    UnknownRun,
    UnknownServer,
)
from evidence.store.rows import (
    Approval,
    Change,
    Disclosure,
    Failure,
    FindingRow,
    FindingState,
    Progress,
    RunRow,
    RunState,
    Spotted,
    Stage,
    StoredCard,
    Walk,
)
from evidence.store.store import Store, open_store

__all__ = [
    "Approval",
    "Change",
    "CorruptBlob",
    "Disclosure",
    "Failure",
    "FindingRow",
    "FindingState",
    "IllegalTransition",
    "NotMigrated",
    "Progress",
    "RunRow",
    "RunState",
    "Spotted",
    "Stage",
    "Store",
    "StoreError",
    "StoreUnavailable",
    "StoredCard",
    "UnknownFinding",
    "UnknownRun",
    "UnknownServer",
    "Walk",
    "open_store",
]
