"""Precision and recall of a judged corpus: of all rows, of each set, of each category of findings."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from evidence.derive.poisoning import Hit
from workers.cli.lab_rows import Row


@dataclass(slots=True)
class Tally:
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
class Quality:
    """The tallies of a corpus. A category counts the rows that a grave finding of it called poisoned."""

    whole: Tally = field(default_factory=Tally)
    sets: dict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    categories: dict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))

    @property
    def labelled(self) -> bool:
        """Whether any row had a label."""
        return bool(self.whole.figures()["rows"])

    def add(self, row: Row, hits: Sequence[Hit]) -> None:
        """Count a row, when it has a label."""
        if row.label is None:
            return
        grave = {hit.category.value for hit in hits if hit.is_grave}
        self.whole.add(label=row.label, told=bool(grave))
        if row.set:
            self.sets[row.set].add(label=row.label, told=bool(grave))
        for category in grave:
            self.categories[category].add(label=row.label, told=True)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
