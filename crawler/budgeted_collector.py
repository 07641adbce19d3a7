"""A collector whose visits are counted, and not made when a budget is spent: then stands what was seen before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from crawler.collector import Collector, Scarce
from crawler.http.request_budgets import RequestBudgets, charge_requests_to
from evidence.model import Absent, Dossier, Observed, Record, Server


class BudgetedCollector:
    """Looks like the collector that it asks for. `schemas` are those of its kinds."""

    def __init__(
        self, collector: Collector, budgets: RequestBudgets, now: Callable[[], datetime], schemas: Mapping[str, int]
    ) -> None:
        self.collector = collector
        self._budgets = budgets
        self._now = now
        self._schemas = schemas

    @property
    def name(self) -> str:
        """The collector's name."""
        return self.collector.name

    @property
    def version(self) -> int:
        """The collector's version."""
        return self.collector.version

    @property
    def kinds(self) -> tuple[str, ...]:
        """The collector's kinds."""
        return self.collector.kinds

    @property
    def needs(self) -> Scarce:
        """What the collector needs."""
        return self.collector.needs

    async def collect(self, target: Server, earlier: Dossier) -> list[Record]:
        """What the collector finds; when a budget is spent, the last records with their age, or why there is none.

        No score moves by a bound of ours, nor by a pause that a server asked for.
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
