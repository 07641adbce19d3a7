"""The store's own nouns: rows that belong to no other package, as pure values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Final

from evidence.canonical import Json
from evidence.model import Run, ServerId

RUBRICS: Final = "rubrics"
"""The option of a run that names the rubrics it judged under, when these are not all."""


class RunState(StrEnum):
    """How far a run has come, or why it does not go on. Published, done, abandoned and cancelled are final.

    `withheld` is a night that we refuse to publish until an operator decides; `abandoned` ended by itself with nothing
    to publish, `cancelled` by an operator. `done` is a re-test: its receipts are its server's newest, and it is no
    night that could be published.
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
        """True when nothing more happens to the run."""
        return not self.next

    @property
    def is_working(self) -> bool:
        """True while workers go on with the run by themselves."""
        return self in {RunState.DISCOVERING, RunState.PLANNED}

    @property
    def next(self) -> frozenset[RunState]:
        """The states that may follow."""
        return _NEXT_RUN.get(self, frozenset())


_NEXT_RUN: Final = {
    RunState.DISCOVERING: frozenset(
        {RunState.PLANNED, RunState.PAUSED, RunState.PUBLISHED, RunState.ABANDONED, RunState.CANCELLED}
    ),
    RunState.PLANNED: frozenset(
        {
            RunState.PAUSED,
            RunState.WITHHELD,
            RunState.PUBLISHED,
            RunState.DONE,
            RunState.ABANDONED,
            RunState.CANCELLED,
        }
    ),
    RunState.PAUSED: frozenset({RunState.DISCOVERING, RunState.PLANNED, RunState.CANCELLED}),
    RunState.WITHHELD: frozenset({RunState.PLANNED, RunState.PUBLISHED, RunState.CANCELLED}),
}


class RunAction(StrEnum):
    """What was done to a run by hand, or refused by us."""

    STARTED = "started"
    PAUSED = "paused"
    RESUMED = "resumed"
    WITHHELD = "withheld"
    REOPENED = "reopened"
    PUBLISHED = "published"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEvent:
    """One entry of a run's trail: who did what to it, when and why."""

    at: datetime
    who: str
    what: RunAction
    note: str = ""


class Stage(StrEnum):
    """A step that a planned server passes on its own.

    Every server is collected and scored. In a fleet collecting has parts, of which a server passes some in their
    order; it is collected when it has passed the last one.
    """

    COLLECT = "collect"
    PROBE = "probe"
    SANDBOX = "sandbox"
    GITHUB = "github"
    SCAN = "scan"
    SCORE = "score"


COLLECT_STAGES: Final = (Stage.PROBE, Stage.SANDBOX, Stage.GITHUB, Stage.SCAN)
"""The parts of collecting, each of which has a queue of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """A run and what has become of it; `note` says why it is in its state, where that needs a reason."""

    run: Run
    state: RunState
    options: Mapping[str, Json] = field(default_factory=dict)
    planned_at: datetime | None = None
    published_at: datetime | None = None
    note: str = ""

    @property
    def is_partial(self) -> bool:
        """True for a run that judged under the rubrics that its options name and no others: no run to compare with."""
        return bool(self.options.get(RUBRICS))


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryWalk:
    """How far the walk over one registry has come. `cursor` resumes after the last stored page."""

    registry: str
    cursor: str | None = None
    pages: int = 0
    entries: int = 0
    invalid: int = 0
    done: bool = False
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProgress:
    """Counts of one run: planned servers, done ones per stage that it has, absent records by (kind, reason).

    `carried` are those of the planned servers that keep their last evidence because it was not their turn.
    """

    planned: int
    done: Mapping[Stage, int]
    absent: Mapping[tuple[str, str], int]
    carried: int = 0
    carried_scored: int = 0

    @property
    def scheduled_count(self) -> int:
        """Planned servers whose turn it was."""
        return self.planned - self.carried

    @property
    def scheduled_scored_count(self) -> int:
        """Servers whose turn it was and that are scored."""
        return self.done.get(Stage.SCORE, 0) - self.carried_scored


@dataclass(frozen=True, slots=True, kw_only=True)
class StageFailure:
    """A server that has not passed a stage although it was tried."""

    server: ServerId
    stage: Stage
    attempts: int
    last_error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceChange:
    """What is new about a server since an earlier run: the kinds whose records differ in anything but their visit."""

    run: str
    kinds: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredScorecard:
    """One scorecard as stored. `body` is its encoded receipt; `score` is None when nothing was measured."""

    server: ServerId
    rubric: str
    version: int
    score: Decimal | None
    grade: str | None
    body: bytes


class FindingState(StrEnum):
    """How far the disclosure of a finding of our own scans has come. Published advisories need none of this."""

    PRIVATE_TRIAGE = "private_triage"
    PRIVATE_DISCLOSED = "private_disclosed"
    PUBLIC_DISCLOSED = "public_disclosed"
    DISMISSED = "dismissed"

    @property
    def next(self) -> frozenset[FindingState]:
        """The states that may follow; itself where a note alone may be added."""
        return _NEXT[self]


_NEXT: Final = {
    FindingState.PRIVATE_TRIAGE: frozenset(FindingState),
    FindingState.PRIVATE_DISCLOSED: frozenset(FindingState),
    FindingState.PUBLIC_DISCLOSED: frozenset({FindingState.PRIVATE_TRIAGE}),
    FindingState.DISMISSED: frozenset({FindingState.PRIVATE_TRIAGE}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectedFinding:
    """A finding as a scoring saw it. `id` says server, rule, place and content; `content` is a digest of what was read.

    The same id on another night is the same finding, whatever else of the server has changed.
    """

    id: str
    server: ServerId
    rule: str
    at: str
    message: str
    severity: str
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingRow:
    """A finding and what has become of it. `told_at` is when its vendor was told, None before."""

    finding: DetectedFinding
    state: FindingState
    since: datetime
    first_seen: datetime
    last_seen: datetime
    told_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Disclosure:
    """One entry of the audit trail: who moved a finding from one state to another, when and why.

    `recipient` is who was notified of the finding, None for nobody.
    """

    at: datetime
    who: str
    before: FindingState
    after: FindingState
    note: str = ""
    recipient: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """An operator's word that a server's listing is as it should be; `listing` is its digest in the kind `drift`."""

    server: ServerId
    listing: str
    at: datetime
    who: str
    note: str
