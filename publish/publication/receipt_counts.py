"""Counts failures and measured dimensions over the receipts of a run, some servers at a time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import cache
from typing import Any

from msgspec import Struct, field

from publish.disclosure import WITHHELD, private_rule_ids
from publish.views.server_summary import FailureCount, FailureCounter, receipt_lines
from scoring.results.scorecard import Scorecard


class ReceiptCounts(Struct, dict=True):
    """Counts by rubric version. Findings of Hallmark's own scans are never included, whether disclosed or not.

    It contains no text of a server: a criterion is named by its published id.
    """

    failures: FailureCounter = field(default_factory=FailureCounter)
    dimensions: dict[tuple[str, int], dict[str, dict[str, int]]] = field(default_factory=dict)

    def add(self, receipts: Iterable[Scorecard]) -> None:
        """Count the receipts of one server."""
        for card in receipts:
            charged: dict[tuple[str, str], list[Decimal]] = {}
            for line in receipt_lines(card):
                if line.points < 0 and line.rule is not None and line.rule not in _unnamed():
                    charged.setdefault((line.cites, line.rule), []).append(line.points)
            for (cites, rule), points in charged.items():
                total = sum(points, Decimal(0))
                self.failures.add(FailureCount(card.rubric, card.version, cites, rule, 1, len(points), total, ""))
            for part in card.dimensions:
                self._count(card.rubric, card.version, part.name, part.status, 1)

    def merge(self, counts: Mapping[str, Any]) -> None:
        """Add the counts of another instance."""
        for rubric, version, cites, rule, servers, times, points in counts["failures"]:
            self.failures.add(FailureCount(rubric, version, cites, rule, servers, times, Decimal(points), ""))
        for each in counts["dimensions"]:
            self._count(*each)

    def as_json(self) -> dict[str, Any]:
        return {
            "failures": [
                [one.rubric, one.version, one.cites, one.rule, one.servers, one.times, str(one.points)]
                for one in self.failures.all()
            ],
            "dimensions": [
                [*name, part, status, count]
                for name, parts in self.dimensions.items()
                for part, statuses in parts.items()
                for status, count in statuses.items()
            ],
        }

    def _count(self, rubric: str, version: int, name: str, status: str, count: int) -> None:
        statuses = self.dimensions.setdefault((rubric, version), {}).setdefault(name, {})
        statuses[status] = statuses.get(status, 0) + count


@cache
def _unnamed() -> frozenset[str]:
    return private_rule_ids() | {WITHHELD}
