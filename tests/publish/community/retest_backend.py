"""A Desk that takes requests for re-tests as rows, for tests of pages and the API; and a shelf of servers."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from msgspec.structs import replace

from evidence.model import ServerId
from evidence.store import ClientLimit, Store
from evidence.store import Retest as Row
from publish.web.backend import (
    Requester,
    RequesterRole,
    RetestAccepted,
    RetestProgress,
    RetestRefusal,
    RetestRefused,
)
from tests.publish.site.plain_backend import NOW, PlainBackend


@dataclass
class RetestBackend(PlainBackend):
    """Requests are rows of the store, without cool-downs; `most` per client."""

    store: Store | None = None
    most: int = 3
    at: datetime = NOW
    reports: dict[str, RetestProgress] = field(default_factory=dict)

    def now(self) -> datetime:
        return self.at

    def pass_time(self, by: timedelta) -> None:
        self.at += by
        self.seconds += by.total_seconds()

    def ask_retest(self, server: ServerId, who: Requester) -> RetestAccepted | RetestRefused:
        assert self.store is not None
        new = Row(id=f"20260302T120000Z-{secrets.token_hex(6)}", server=server, client=who.client, asked_at=self.at)
        limit = None if who.standing is RequesterRole.OPERATOR else ClientLimit(self.most, self.at - timedelta(days=1))
        found = self.store.retests.request_retest(new, limit)
        if found is None:
            return RetestRefused(why=RetestRefusal.TOO_MANY, message="at most 3 re-tests in 24 hours: try again later")
        return RetestAccepted(retest=found, ready_at=self.at, again=found.id != new.id)

    def retest(self, retest: str) -> RetestProgress | None:
        assert self.store is not None
        found = self.store.retests.find_retest(retest)
        known = self.reports.get(retest, RetestProgress(retest=found, ready_at=self.at) if found else None)
        return known and replace(known, retest=found or known.retest)

    def retests(self, server: ServerId, limit: int = 20) -> Sequence[RetestProgress]:
        assert self.store is not None
        return [RetestProgress(retest=one, ready_at=self.at) for one in self.store.retests.list_retests(limit, server)]
