"""Precision and recall of a judged corpus: of all rows, of each set, of each category.

A category has a recall when rows say of which categories they are; otherwise only how many of its findings are right.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from evidence.derive.poisoning import Hit
from evidence.patterns.poisoning import Category
from workers.cli.lab.tool_rows import ToolRow

CATEGORIES: Final = tuple(category.value for category in Category)


@dataclass(slots=True)
class LabelTally:
    """Labelled rows: poisoned ones found and missed, clean ones called poisoned and left alone."""

    found: int = 0
    missed: int = 0
    false: int = 0
    clean: int = 0

    def add(self, *, label: bool, told: bool) -> None:
        """Count one row."""
        if label:
            self.found += told
            self.missed += not told
        else:
            self.false += told
            self.clean += not told

    def figures(self) -> dict[str, Any]:
        """Counts and rates; a rate of nothing is null."""
        told, there = self.found + self.false, self.found + self.missed
        precision = self.found / told if told else None
        recall = self.found / there if there else None
        both = (precision or 0) + (recall or 0)
        return {
            "rows": told + self.missed + self.clean,
            "poisoned": there,
            "found": self.found,
            "missed": self.missed,
            "false_alarms": self.false,
            "precision": _rounded(precision),
            "recall": _rounded(recall),
            "f1": _rounded(2 * (precision or 0) * (recall or 0) / both if both else 0.0) if there else None,
        }


@dataclass(slots=True)
class PoisoningQuality:
    """The tallies of a corpus.

    `told` counts for a category the rows that a grave finding of it called poisoned, `named` those that are of it by
    their own word, and `found` how many of those are called poisoned for whatever reason.
    """

    whole: LabelTally = field(default_factory=LabelTally)
    sets: dict[str, LabelTally] = field(default_factory=lambda: defaultdict(LabelTally))
    told: dict[str, LabelTally] = field(default_factory=lambda: defaultdict(LabelTally))
    named: dict[str, LabelTally] = field(default_factory=lambda: defaultdict(LabelTally))
    found: Counter[str] = field(default_factory=Counter)

    @property
    def labelled(self) -> bool:
        """Whether any row had a label."""
        return bool(self.whole.figures()["rows"])

    def add(self, row: ToolRow, hits: Sequence[Hit]) -> None:
        """Count a row, when it has a label."""
        if row.label is None:
            return
        grave = {hit.category.value for hit in hits if hit.is_grave}
        self.whole.add(label=row.label, told=bool(grave))
        if row.set:
            self.sets[row.set].add(label=row.label, told=bool(grave))
        for category in grave:
            self.told[category].add(label=row.label, told=True)
        of = row.categories if row.label else frozenset[str]()
        if of is not None:
            self._add_named(of, grave)

    def _add_named(self, of: frozenset[str], grave: set[str]) -> None:
        for category in (*CATEGORIES, *sorted(of.difference(CATEGORIES))):
            self.named[category].add(label=category in of, told=category in grave)
            self.found[category] += category in of and bool(grave)

    def categories(self) -> Iterator[dict[str, Any]]:
        """The figures of each category, of those that rows name when any does."""
        if any(tally.found + tally.missed for tally in self.named.values()):
            for name, tally in sorted(self.named.items()):
                figures = tally.figures()
                if figures["poisoned"] or figures["false_alarms"]:
                    yield {"name": name, **figures, "found_by_any": self.found[name]}
            return
        for name, tally in sorted(self.told.items()):
            yield {"name": name, **tally.figures(), "recall": None, "f1": None}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
