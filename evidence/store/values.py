"""Values of runs, stages, scorecards and findings as the store holds them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from types import MappingProxyType
from typing import Final, TypeAlias

from msgspec import Struct, field

from evidence.canonical import Json
from evidence.model import Run, ServerId

LeaseTokens: TypeAlias = Mapping[ServerId, int]
"""The tokens of leases by server. Each lease of an item has a larger token than those before."""

RUBRICS: Final = "rubrics"
"""The option of a run that names its rubrics when it does not use all."""


class RunState(StrEnum):
    """The state of a run. Published, done, abandoned and cancelled are final.

    A `withheld` nightly run is not published until an operator decides. An `abandoned` run ended by itself with nothing
    to publish, a `cancelled` one by an operator. `done` is a finished re-test, which is never published.
    """

    DISCOVERING = "discovering"
    PLANNED = "planned"
    PAUSED = "paused"
    WITHHELD = "withheld"
    PUBLISHED = "published"
    DONE = "done"
    ABANDONED = "abandoned"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        return not self.next

    @property
    def is_working(self) -> bool:
        """True while workers continue the run without an operator."""
        return self in {RunState.DISCOVERING, RunState.PLANNED}

    @property
    def next(self) -> frozenset[RunState]:
        """The states that may follow."""
        return _NEXT_RUN.get(self, frozenset())


_NEXT_RUN: Final = {
    RunState.DISCOVERING: frozenset(
        {RunState.PLANNED, RunState.PAUSED, RunState.PUBLISHED, RunState.ABANDONED, RunState.CANCELLED}
    ),
    RunState.PLANNED: frozenset(RunState) - {RunState.DISCOVERING, RunState.PLANNED},
    RunState.PAUSED: frozenset({RunState.DISCOVERING, RunState.PLANNED, RunState.CANCELLED}),
    RunState.WITHHELD: frozenset({RunState.PLANNED, RunState.PUBLISHED, RunState.CANCELLED}),
}

FINAL_STATES: Final = tuple(state.value for state in RunState if state.is_final)
"""The values of the final states, for queries."""


class RunAction(StrEnum):
    """What an operator did to a run, or that its publication was withheld automatically."""

    STARTED = "started"
    PAUSED = "paused"
    RESUMED = "resumed"
    WITHHELD = "withheld"
    REOPENED = "reopened"
    PUBLISHED = "published"
    CANCELLED = "cancelled"


class RunEvent(Struct, frozen=True, kw_only=True):
    """One entry of a run's trail: who did what to it, when and why."""

    at: datetime
    who: str
    what: RunAction
    note: str = ""


class Stage(StrEnum):
    """A step that each planned server passes independently of the others.

    Every server is collected and scored. In a fleet collecting has parts; a server passes some of them in order and is
    collected after its last one.
    """

    COLLECT = "collect"
    PROBE = "probe"
    SANDBOX = "sandbox"
    GITHUB = "github"
    SCAN = "scan"
    SCORE = "score"


COLLECT_STAGES: Final = (Stage.PROBE, Stage.SANDBOX, Stage.GITHUB, Stage.SCAN)
"""The parts of collecting; each has its own queue."""


class PlanPosition(Struct, frozen=True, kw_only=True):
    """How far the planning of a run is: past all hosts before `host`, and past the servers of `host` up to a key.

    Start times count from `began`. `planned` and `carried` are the numbers of servers so far.
    """

    began: datetime
    host: str = ""
    server: int = 0
    planned: int = 0
    carried: int = 0


class RunRow(Struct, frozen=True, kw_only=True):
    """A run and its state; `note` is the reason of the state, where it needs one.

    `plan_position` is None until the first servers are planned, and stays after the last. What is published of the run
    shows reviews of findings until `reviews_until`, when its publication began; None before.
    """

    run: Run
    state: RunState
    options: Mapping[str, Json] = field(default_factory=dict)
    planned_at: datetime | None = None
    published_at: datetime | None = None
    reviews_until: datetime | None = None
    note: str = ""
    plan_position: PlanPosition | None = None

    @property
    def is_partial(self) -> bool:
        """True for a run that scored under some rubrics only; other runs are not compared with it."""
        return bool(self.options.get(RUBRICS))


class RegistryWalk(Struct, frozen=True, kw_only=True):
    """The progress of the walk over one registry. `cursor` resumes after the last stored page, which came `at`."""

    registry: str
    cursor: str | None = None
    pages: int = 0
    entries: int = 0
    invalid: int = 0
    done: bool = False
    error: str | None = None
    at: datetime | None = None


class RunProgress(Struct, frozen=True, kw_only=True):
    """Counts of one run: planned servers, servers done by stage, absent records by (kind, reason).

    `carried` planned servers keep their last evidence because they are not due.
    """

    planned: int
    done: Mapping[Stage, int]
    absent: Mapping[tuple[str, str], int]
    carried: int = 0
    carried_scored: int = 0

    @property
    def scheduled_count(self) -> int:
        """The number of planned servers that are due."""
        return self.planned - self.carried

    @property
    def scheduled_scored_count(self) -> int:
        """The number of due servers that are scored."""
        return self.done.get(Stage.SCORE, 0) - self.carried_scored


class PublicationProgress(Struct, frozen=True):
    """How many parts of a run there are and how many are done; none of a run that is not being published."""

    parts: int = 0
    done: int = 0

    @property
    def waiting(self) -> int:
        return self.parts - self.done

    @property
    def is_done(self) -> bool:
        return 0 < self.parts == self.done


class StageFailure(Struct, frozen=True, kw_only=True):
    """A server with failed attempts that has not passed a stage."""

    server: ServerId
    stage: Stage
    attempts: int
    last_error: str


class EvidenceChange(Struct, frozen=True, kw_only=True):
    """The kinds of a server's records whose content or collector differs from that in an earlier run."""

    run: str
    kinds: frozenset[str]


class StoredScorecard(Struct, frozen=True, kw_only=True):
    """One scorecard as stored. `body` is its encoded receipt; `score` is None when nothing was measured."""

    server: ServerId
    rubric: str
    version: int
    score: Decimal | None
    grade: str | None
    body: bytes


class KeptReceipts(Struct, frozen=True, kw_only=True):
    """Receipts of a server in an earlier run that also hold in a later one, apart from date and evidence digests."""

    run: str
    versions: frozenset[tuple[str, int]]


NOTHING_KEPT: Final[Mapping[ServerId, KeptReceipts]] = MappingProxyType({})


class FindingState(StrEnum):
    """The disclosure state of a finding of our own scans. Published advisories need no disclosure."""

    PRIVATE_TRIAGE = "private_triage"
    PRIVATE_DISCLOSED = "private_disclosed"
    PUBLIC_DISCLOSED = "public_disclosed"
    DISMISSED = "dismissed"

    @property
    def next(self) -> frozenset[FindingState]:
        """The states that may follow; the state itself where a note may be added without a change."""
        return _NEXT[self]


_NEXT: Final = {
    FindingState.PRIVATE_TRIAGE: frozenset(FindingState),
    FindingState.PRIVATE_DISCLOSED: frozenset(FindingState),
    FindingState.PUBLIC_DISCLOSED: frozenset({FindingState.PRIVATE_TRIAGE}),
    FindingState.DISMISSED: frozenset({FindingState.PRIVATE_TRIAGE}),
}


class DetectedFinding(Struct, frozen=True, kw_only=True):
    """A finding of one scoring. `id` is derived from server, rule, place and content; `content` is a digest.

    A finding with the same id in another run is the same finding.
    """

    id: str
    server: ServerId
    rule: str
    at: str
    message: str
    severity: str
    content: str


class FindingRow(Struct, frozen=True, kw_only=True):
    """A finding and its disclosure state. `vendor_informed_at` is when its vendor was notified, None before."""

    finding: DetectedFinding
    state: FindingState
    since: datetime
    first_seen: datetime
    last_seen: datetime
    vendor_informed_at: datetime | None = None


class Disclosure(Struct, frozen=True, kw_only=True):
    """One entry of the audit trail: a change of a finding's state, with operator, time and note.

    `recipient` is the notified party, None without a notification.
    """

    at: datetime
    who: str
    before: FindingState
    after: FindingState
    note: str = ""
    recipient: str | None = None


class Approval(Struct, frozen=True, kw_only=True):
    """An operator's approval of a server's listing; `listing` is its digest in the kind `drift`."""

    server: ServerId
    listing: str
    at: datetime
    who: str
    note: str
