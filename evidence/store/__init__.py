"""Versioned evidence on SQLite or PostgreSQL. Callers see pure values only; the tables stay inside this package."""

from evidence.store.errors import (
    CorruptBlob,
    IllegalTransition,
    NotMigrated,
    StoreError,
    StoreUnavailable,
    UnknownFinding,
    UnknownRetest,
    UnknownRun,
    UnknownServer,
)
from evidence.store.opt_outs import OptOut, OptOutScope
from evidence.store.retests import ClientLimit, Retest, RetestState
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
    "ClientLimit",
    "CorruptBlob",
    "Disclosure",
    "Failure",
    "FindingRow",
    "FindingState",
    "IllegalTransition",
    "NotMigrated",
    "OptOut",
    "OptOutScope",
    "Progress",
    "Retest",
    "RetestState",
    "RunRow",
    "RunState",
    "Spotted",
    "Stage",
    "Store",
    "StoreError",
    "StoreUnavailable",
    "StoredCard",
    "UnknownFinding",
    "UnknownRetest",
    "UnknownRun",
    "UnknownServer",
    "Walk",
    "open_store",
]
