"""What a dispute of one line of a receipt is, and how it can end."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from hashlib import sha256

from evidence.model import ServerId
from evidence.store.errors import StoreError
from evidence.store.sql.json_columns import to_json


class UnknownDispute(StoreError):
    """No dispute has this id."""


class DisputeState(StrEnum):
    """Open until an operator decides; `dropped` marks a text that is no dispute, and is never shown."""

    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    DROPPED = "dropped"

    @property
    def next(self) -> frozenset[DisputeState]:
        """The states that it may go on to; a dispute that was decided can only be opened again."""
        decided = frozenset(DisputeState) - {DisputeState.OPEN}
        return decided if self is DisputeState.OPEN else frozenset({DisputeState.OPEN})


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputedLine:
    """A line of a public receipt: where it stands, what it cites and says, and the rule behind it if there is one."""

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
        """The same for every dispute of this fault, whatever the run, the version and the words are."""
        return sha256(to_json([self.server, self.rubric, self.cites, self.at]).encode()).digest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Dispute:
    """One dispute. `contact` is private; `reason` may be read by everybody when `is_shown`; `client` is a digest."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class DisputeDecision:
    """One change of a dispute. `answer` is for everybody, `note` for the trail; None leaves what was there."""

    at: datetime
    who: str
    before: DisputeState
    after: DisputeState
    note: str = ""
    answer: str | None = None
    shown: bool | None = None


@dataclass(frozen=True, slots=True)
class DisputeLimits:
    """At most so many disputes of a client since a moment, and so many open ones of a server and of a line."""

    of_client: int
    since: datetime
    of_server: int
    of_line: int


class DisputeLimit(StrEnum):
    """Which limit a dispute met."""

    CLIENT = "client"
    SERVER = "server"
    LINE = "line"
