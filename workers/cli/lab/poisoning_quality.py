"""Precision and recall on a labelled corpus of tools: of all rows, of each set and of each category.

A category has a recall only when rows are labelled with their categories; otherwise it has a precision.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, Final

from msgspec import Struct, field

from evidence.derive.poisoning import Hit
from evidence.patterns.poisoning import Category
from workers.cli.lab.quality import compute_rate
from workers.cli.lab.tool_rows import ToolRow

CATEGORIES: Final = tuple(category.value for category in Category)


class LabelTally(Struct):
    """Counts of labelled rows: poisoned ones `found` and `missed`; clean ones reported (`false`) and not (`clean`)."""

    found: int = 0
    missed: int = 0
    false: int = 0
    clean: int = 0

    def add(self, *, label: bool, reported: bool) -> None:
        if label:
            self.found += reported
            self.missed += not reported
        else:
            self.false += reported
            self.clean += not reported

    def figures(self) -> dict[str, Any]:
        """Counts and rates; a rate without rows is None. F1 is twice the found over the reported and the poisoned."""
        reported, poisoned = self.found + self.false, self.found + self.missed
        return {
            "rows": reported + self.missed + self.clean,
            "poisoned": poisoned,
            "found": self.found,
            "missed": self.missed,
            "false_alarms": self.false,
            "precision": compute_rate(self.found, reported),
            "recall": compute_rate(self.found, poisoned),
            "f1": compute_rate(2 * self.found, reported + poisoned) if poisoned else None,
        }


class PoisoningQuality(Struct):
    """The tallies of a corpus.

    Per category, `reported` counts rows with a grave finding of it, `labelled` compares these findings with the
    categories of the labels, and `found` counts labelled rows of it that any grave finding reports.
    """

    whole: LabelTally = field(default_factory=LabelTally)
    sets: dict[str, LabelTally] = field(default_factory=lambda: defaultdict(LabelTally))
    reported: dict[str, LabelTally] = field(default_factory=lambda: defaultdict(LabelTally))
    labelled: dict[str, LabelTally] = field(default_factory=lambda: defaultdict(LabelTally))
    found: Counter[str] = field(default_factory=Counter)

    @property
    def has_labels(self) -> bool:
        return bool(self.whole.figures()["rows"])

    def add(self, row: ToolRow, hits: Sequence[Hit]) -> None:
        """Count a row if it has a label."""
        if row.label is None:
            return
        grave = {hit.category.value for hit in hits if hit.is_grave}
        self.whole.add(label=row.label, reported=bool(grave))
        if row.set:
            self.sets[row.set].add(label=row.label, reported=bool(grave))
        for category in grave:
            self.reported[category].add(label=row.label, reported=True)
        expected = row.categories if row.label else frozenset[str]()
        if expected is None:
            return
        for category in (*CATEGORIES, *sorted(expected.difference(CATEGORIES))):
            self.labelled[category].add(label=category in expected, reported=category in grave)
            self.found[category] += category in expected and bool(grave)

    def categories(self) -> Iterator[dict[str, Any]]:
        """The figures of each category; without labelled categories only the precision is known."""
        if any(tally.found + tally.missed for tally in self.labelled.values()):
            for name, tally in sorted(self.labelled.items()):
                figures = tally.figures()
                if figures["poisoned"] or figures["false_alarms"]:
                    yield {"name": name, **figures, "found_by_any": self.found[name]}
            return
        for name, tally in sorted(self.reported.items()):
            yield {"name": name, **tally.figures(), "recall": None, "f1": None}
