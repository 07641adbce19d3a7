"""A Desk that takes requests for re-tests as rows, for tests of pages and the API; and a shelf of servers."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from evidence.model import ServerId
from evidence.store import ClientLimit, Store
from evidence.store import Retest as Row
from publish.site.desk import Accepted, Asker, Refused, Report, Standing, WhyRefused
from tests.publish.site.desks import NOW, PlainDesk


@dataclass
class TakingDesk(PlainDesk):
    """Requests are rows of the store, without cool-downs; `most` per client."""

    store: Store | None = None
    most: int = 3
    at: datetime = NOW
    reports: dict[str, Report] = field(default_factory=dict)

    def now(self) -> datetime:
        return self.at

    def pass_time(self, by: timedelta) -> None:
        self.at += by
        self.seconds += by.total_seconds()

    def ask_retest(self, server: ServerId, who: Asker) -> Accepted | Refused:
        assert self.store is not None
        new = Row(id=f"20260302T120000Z-{secrets.token_hex(6)}", server=server, client=who.client, asked_at=self.at)
        limit = None if who.standing is Standing.OPERATOR else ClientLimit(self.most, self.at - timedelta(days=1))
        found = self.store.retests.ask(new, limit)
        if found is None:
            return Refused(why=WhyRefused.TOO_MANY, message="at most 3 re-tests in 24 hours: try again later")
        return Accepted(retest=found, ready_at=self.at, again=found.id != new.id)

    def retest(self, retest: str) -> Report | None:
        assert self.store is not None
        found = self.store.retests.find(retest)
        known = self.reports.get(retest, Report(retest=found, ready_at=self.at) if found else None)
        return known and replace(known, retest=found or known.retest)

    def retests(self, server: ServerId, limit: int = 20) -> Sequence[Report]:
        assert self.store is not None
        return [Report(retest=one, ready_at=self.at) for one in self.store.retests.newest(limit, server)]
