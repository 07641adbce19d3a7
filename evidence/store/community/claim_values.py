"""Claims to control a server: their states, proof methods and limits."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from msgspec import Struct

from evidence.model import ServerId


class ClaimState(StrEnum):
    """Waiting for a proof, proven, or ended: not proven in time, proof no longer found, or withdrawn by its owner."""

    WAITING = "waiting"
    PROVEN = "proven"
    EXPIRED = "expired"
    LAPSED = "lapsed"
    WITHDRAWN = "withdrawn"

    @property
    def is_alive(self) -> bool:
        """True while the proof is checked."""
        return self in {ClaimState.WAITING, ClaimState.PROVEN}


class ProofMethod(StrEnum):
    """Where the challenge is published."""

    WELL_KNOWN = "well-known"
    DNS = "dns"
    REPOSITORY = "repository"
    SERVER = "server"


class Claim(Struct, frozen=True, kw_only=True):
    """A claim of control: `challenge` must appear at `place`; the next check is due at `due_at`.

    `seen_at` is when the challenge was last found, `note` the result of the last check, for the claimant.
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


class ClaimLimits(Struct, frozen=True):
    """The maximum of claims of a client since a moment, and of unproven claims of a server.

    At a server's maximum a new claim replaces the oldest one if that was made before `stale`, so that strangers cannot
    prevent the owner's claim.
    """

    of_client: int
    since: datetime
    of_server: int
    stale: datetime
