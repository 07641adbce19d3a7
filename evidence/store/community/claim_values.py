"""What a claim to control a server is, and how far its proof can have come."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from evidence.model import ServerId


class ClaimState(StrEnum):
    """Waiting for its proof, proven, or over: never proven in time, no longer found, or given up by its owner."""

    WAITING = "waiting"
    PROVEN = "proven"
    EXPIRED = "expired"
    LAPSED = "lapsed"
    WITHDRAWN = "withdrawn"

    @property
    def is_alive(self) -> bool:
        """True while its proof is looked for."""
        return self in {ClaimState.WAITING, ClaimState.PROVEN}


class ProofMethod(StrEnum):
    """Where the proof is looked for."""

    WELL_KNOWN = "well-known"
    DNS = "dns"
    REPOSITORY = "repository"
    SERVER = "server"


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A claim of control: `challenge` must appear at `place`, which is checked again at `due_at`.

    `seen_at` is when it was last found, `note` the result of the last check, for the claimant.
    """

    id: str
    server: ServerId
    way: ProofMethod
    place: str
    challenge: str
    client: str
    asked_at: datetime
    due_at: datetime
    state: ClaimState = ClaimState.WAITING
    tries: int = 0
    seen_at: datetime | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class ClaimLimits:
    """At most so many claims of a client since a moment, and so many unproven ones of a server at a time.

    Where a server has as many, the oldest of those that were made before `stale` gives way, so that strangers cannot
    keep its owner from claiming it.
    """

    of_client: int
    since: datetime
    of_server: int
    stale: datetime
