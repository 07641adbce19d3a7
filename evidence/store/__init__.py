"""Versioned evidence on SQLite or PostgreSQL. Callers see pure values only; the tables stay inside this package.

SQLAlchemy and the tables are imported with the first name that needs them, since they take longer to import than most
commands run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evidence.imported_on_use import import_on_use
from evidence.store.errors import (
    BadCursor,
    CorruptBlob,
    IllegalRunChange,
    IllegalTransition,
    NotMigrated,
    StoreError,
    StoreUnavailable,
    UnknownFinding,
    UnknownRetest,
    UnknownRubric,
    UnknownRun,
    UnknownServer,
)
from evidence.store.listing.values import HistoryPoint, ListedScore, ListedServer, ListingPage, ListingQuery
from evidence.store.values import (
    COLLECT_STAGES,
    NOTHING_KEPT,
    Approval,
    DetectedFinding,
    Disclosure,
    EvidenceChange,
    FindingRow,
    FindingState,
    KeptReceipts,
    LeaseTokens,
    PlanPosition,
    PublicationProgress,
    RegistryWalk,
    RunAction,
    RunEvent,
    RunProgress,
    RunRow,
    RunState,
    Stage,
    StageFailure,
    StoredScorecard,
)

if TYPE_CHECKING:
    from evidence.store.decisions.opt_outs import OptOut, OptOutScope
    from evidence.store.runs.full_probes import AwaitingFullProbe, FullProbe
    from evidence.store.runs.retests import ClientLimit, Retest, RetestState
    from evidence.store.store import Store, open_store
else:
    __getattr__ = import_on_use(
        __name__,
        {
            "AwaitingFullProbe": "runs.full_probes",
            "ClientLimit": "runs.retests",
            "FullProbe": "runs.full_probes",
            "OptOut": "decisions.opt_outs",
            "OptOutScope": "decisions.opt_outs",
            "Retest": "runs.retests",
            "RetestState": "runs.retests",
            "Store": "store",
            "open_store": "store",
        },
    )

__all__ = [
    "COLLECT_STAGES",
    "NOTHING_KEPT",
    "Approval",
    "AwaitingFullProbe",
    "BadCursor",
    "ClientLimit",
    "CorruptBlob",
    "DetectedFinding",
    "Disclosure",
    "EvidenceChange",
    "FindingRow",
    "FindingState",
    "FullProbe",
    "HistoryPoint",
    "IllegalRunChange",
    "IllegalTransition",
    "KeptReceipts",
    "LeaseTokens",
    "ListedScore",
    "ListedServer",
    "ListingPage",
    "ListingQuery",
    "NotMigrated",
    "OptOut",
    "OptOutScope",
    "PlanPosition",
    "PublicationProgress",
    "RegistryWalk",
    "Retest",
    "RetestState",
    "RunAction",
    "RunEvent",
    "RunProgress",
    "RunRow",
    "RunState",
    "Stage",
    "StageFailure",
    "Store",
    "StoreError",
    "StoreUnavailable",
    "StoredScorecard",
    "UnknownFinding",
    "UnknownRetest",
    "UnknownRubric",
    "UnknownRun",
    "UnknownServer",
    "open_store",
]
