"""A collector with a request budget: when the budget is spent, the earlier records stay valid."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from crawler.collector import Collector, Scarce
from crawler.http.request_budgets import RequestBudgets, charge_requests_to
from evidence.model import Absent, Dossier, Observed, Record, Server


class BudgetedCollector:
    """Wraps a collector. `schemas` are the schema numbers of its kinds."""

    def __init__(
        self, collector: Collector, budgets: RequestBudgets, now: Callable[[], datetime], schemas: Mapping[str, int]
    ) -> None:
        self.collector = collector
        self._budgets = budgets
        self._now = now
        self._schemas = schemas

    @property
    def name(self) -> str:
        return self.collector.name

    @property
    def version(self) -> int:
        return self.collector.version

    @property
    def kinds(self) -> tuple[str, ...]:
        return self.collector.kinds

    @property
    def needs(self) -> Scarce:
        return self.collector.needs

    async def collect(self, target: Server, earlier: Dossier) -> list[Record]:
        """The records of the collector; when a budget is spent, the last records with their age, or why there are none.

        Neither our own bounds nor a pause that a server asked for change a score.
        """
        if (why := await self._budgets.find_refusal(target)) is not None:
            return [self._instead(target, earlier, kind, why) for kind in self.kinds]
        with charge_requests_to(target.id):
            try:
                return await self.collector.collect(target, earlier)
            finally:
                await self._budgets.settle()

    def _instead(self, target: Server, earlier: Dossier, kind: str, why: Absent) -> Record:
        known = earlier.records.get(kind)
        if known is not None and isinstance(known.content, Observed):
            return known
        return Record(
            server=target.id,
            kind=kind,
            schema=self._schemas[kind],
            collector=self.name,
            collector_version=self.version,
            observed_at=self._now(),
            content=why,
        )
