"""A plain Desk for tests: the clock moves only when a test moves it, and no server has opted out at first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256

from evidence.model import Server, ServerId
from publish.community.limits import CommunityLimits
from publish.web.backend import (
    Operator,
    Requester,
    RequesterRole,
    RequestLimits,
    RetestAccepted,
    RetestProgress,
    RetestRefusal,
    RetestRefused,
)

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
WHO = Operator(contact_url="https://who.example/crawler", user_agent="hallmark/test")


@dataclass
class PlainBackend:
    base_url: str = "https://hallmark.example"
    limits: RequestLimits = field(default_factory=lambda: RequestLimits(rate=0))
    operator: Operator = WHO
    datasets: str = ""
    community: CommunityLimits = field(default_factory=CommunityLimits)
    settings: str = ""
    seconds: float = 0.0
    hidden: set[ServerId] = field(default_factory=set)

    def sealed(self, purpose: str) -> bytes:
        return sha256(purpose.encode()).digest()

    def now(self) -> datetime:
        return NOW

    def monotonic(self) -> float:
        return self.seconds

    def opted_out(self, server: Server) -> str | None:
        return "its owner asked" if server.id in self.hidden else None

    def mark(self, revision: str) -> str:
        return self.settings

    def client(self, address: str, standing: RequesterRole = RequesterRole.ANYONE) -> Requester:
        return Requester(f"digest-of-{address}", standing)

    def ask_retest(self, server: ServerId, who: Requester) -> RetestAccepted | RetestRefused:
        return RetestRefused(why=RetestRefusal.UNKNOWN_SERVER, message="this backend takes no requests")

    def retest(self, retest: str) -> RetestProgress | None:
        return None

    def retests(self, server: ServerId, limit: int = 20) -> Sequence[RetestProgress]:
        return ()
