"""What a run adds up to, counted plainly from all of its receipts: what the published numbers are compared with."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from evidence.model import Dossier, Reason
from publish.views.server_summary import (
    HISTOGRAM_BINS,
    FailureCount,
    FailureCounter,
    MeasuredState,
    ServerRow,
    receipt_lines,
    summarize_server,
)
from scoring.results.scorecard import Scorecard


@dataclass
class Overview:
    """Collects rows and counts while a run streams by; memory is a few hundred bytes per server."""

    rows: list[ServerRow] = field(default_factory=list)
    _failures: FailureCounter = field(default_factory=FailureCounter)
    _dimensions: Counter[tuple[str, int, str, str]] = field(default_factory=Counter)

    def add(self, dossier: Dossier, cards: Sequence[Scorecard]) -> ServerRow:
        """Count one server and return its row."""
        row = summarize_server(dossier, cards)
        self.rows.append(row)
        for card in cards:
            self._failures.count(card.rubric, card.version, receipt_lines(card))
            for part in card.dimensions:
                self._dimensions[card.rubric, card.version, part.name, part.status] += 1
        return row

    @property
    def states(self) -> dict[MeasuredState, int]:
        """Servers per state, all states named."""
        counts = Counter(row.state for row in self.rows)
        return {state: counts[state] for state in MeasuredState}

    @property
    def reasons(self) -> list[tuple[Reason, int]]:
        """Why listings are absent, the most common first."""
        counts = Counter(row.reason for row in self.rows if row.reason)
        return sorted(counts.items(), key=lambda item: (-item[1], item[0].value))

    def scores(self, rubric: str, version: int) -> list[Decimal]:
        """Scores of one rubric that can be compared: servers without one, or with a thin one, are not in it."""
        marks = (row.mark(rubric, version) for row in self.rows)
        return sorted(mark.score for mark in marks if mark and mark.score is not None and not mark.thin)

    def thin(self, rubric: str, version: int) -> int:
        """How many servers have a score that rests on thin evidence."""
        marks = (row.mark(rubric, version) for row in self.rows)
        return sum(1 for mark in marks if mark and mark.score is not None and mark.thin)

    def grades(self, rubric: str, version: int) -> list[tuple[str, int]]:
        """Servers per grade, by name."""
        marks = (row.mark(rubric, version) for row in self.rows)
        return sorted(Counter(mark.grade for mark in marks if mark and mark.grade).items())

    def dimensions(self, rubric: str, version: int) -> list[tuple[str, dict[str, int]]]:
        """Status counts of each dimension, in the rubric's order."""
        table: dict[str, dict[str, int]] = {}
        for (of, number, name, status), count in self._dimensions.items():
            if (of, number) == (rubric, version):
                table.setdefault(name, {})[status] = count
        return list(table.items())

    def failures(self, rubric: str, version: int, limit: int = 12) -> list[FailureCount]:
        """What cost points on most servers."""
        return self._failures.most(rubric, version, limit)


def histogram(scores: Sequence[Decimal], bins: int = HISTOGRAM_BINS) -> list[int]:
    """Servers per equal part of 0 to 100; 100 falls into the last part."""
    counts = [0] * bins
    for score in scores:
        counts[max(0, min(bins - 1, int(score * bins / 100)))] += 1
    return counts
