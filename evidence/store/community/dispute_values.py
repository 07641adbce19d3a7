"""Disputes of receipt lines: their states, decisions and limits."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from hashlib import sha256

from msgspec import Struct

from evidence.model import ServerId
from evidence.store.errors import StoreError
from evidence.store.sql.json_columns import to_json


class UnknownDispute(StoreError):
    """No dispute has this id."""


class DisputeState(StrEnum):
    """Open until an operator decides. `dropped` marks a text that is not a dispute; it is never shown."""

    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    DROPPED = "dropped"

    @property
    def next(self) -> frozenset[DisputeState]:
        """The states that may follow; a decided dispute can only be opened again."""
        decided = frozenset(DisputeState) - {DisputeState.OPEN}
        return decided if self is DisputeState.OPEN else frozenset({DisputeState.OPEN})


class DisputedLine(Struct, frozen=True, kw_only=True):
    """A line of a public receipt: its place, the id that it cites, its text, and its rule if it has one."""

    server: ServerId
    run: str
    rubric: str
    version: int
    cites: str
    at: str
    why: str
    rule: str | None = None

    @property
    def digest(self) -> bytes:
        """Identifies the disputed fault; independent of run, rubric version and text."""
        return sha256(to_json([self.server, self.rubric, self.cites, self.at]).encode()).digest()


class Dispute(Struct, frozen=True, kw_only=True):
    """One dispute. `contact` is private; `reason` is public when `is_shown`; `client` is a digest."""

    id: str
    line: DisputedLine
    reason: str
    client: str
    filed_at: datetime
    contact: str | None = None
    by_maintainer: bool = False
    state: DisputeState = DisputeState.OPEN
    is_shown: bool = False
    answer: str | None = None
    decided_at: datetime | None = None


class DisputeDecision(Struct, frozen=True, kw_only=True):
    """One change of a dispute. `answer` is public, `note` is for the trail; None leaves a value unchanged."""

    at: datetime
    who: str
    before: DisputeState
    after: DisputeState
    note: str = ""
    answer: str | None = None
    shown: bool | None = None


class DisputeLimits(Struct, frozen=True):
    """The maximum of disputes of a client since a moment, and of open disputes of a server and of a line."""

    of_client: int
    since: datetime
    of_server: int
    of_line: int


class DisputeLimit(StrEnum):
    """The limit that refuses a dispute."""

    CLIENT = "client"
    SERVER = "server"
    LINE = "line"
