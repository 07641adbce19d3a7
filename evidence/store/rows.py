"""The store's own nouns: rows that belong to no other package, as pure values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

from evidence.canonical import Json
from evidence.model import Run, ServerId


class RunState(StrEnum):
    """How far a run has come. Published and abandoned are final."""

    DISCOVERING = "discovering"
    PLANNED = "planned"
    PUBLISHED = "published"
    ABANDONED = "abandoned"

    @property
    def is_final(self) -> bool:
        """True when nothing more happens to the run."""
        return self in {RunState.PUBLISHED, RunState.ABANDONED}


class Stage(StrEnum):
    """A step that every planned server passes on its own."""

    COLLECT = "collect"
    SCORE = "score"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """A run and what has become of it."""

    run: Run
    state: RunState
    options: Mapping[str, Json] = field(default_factory=dict)
    planned_at: datetime | None = None
    published_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """How far the walk over one registry has come. `cursor` resumes after the last stored page."""

    registry: str
    cursor: str | None = None
    pages: int = 0
    entries: int = 0
    invalid: int = 0
    done: bool = False
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """Counts of one run: planned servers, done ones per stage, absent records by (kind, reason)."""

    planned: int
    done: Mapping[Stage, int]
    absent: Mapping[tuple[str, str], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """A server that has not passed a stage although it was tried."""

    server: ServerId
    stage: Stage
    attempts: int
    last_error: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCard:
    """One scorecard as stored. `body` is its encoded receipt; `score` is None when nothing was measured."""

    server: ServerId
    rubric: str
    version: int
    score: Decimal | None
    grade: str | None
    body: bytes
