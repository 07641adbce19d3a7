"""Counts of records and servers by source, which the manifest of a snapshot states."""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from msgspec import Struct, field


class KindCounts(Struct):
    """Number of records of one kind of evidence, and the period in which they were observed."""

    observed: int = 0
    absent: int = 0
    first: datetime | None = None
    last: datetime | None = None

    def add(self, other: KindCounts) -> None:
        """Add the counts of another batch."""
        self.observed += other.observed
        self.absent += other.absent
        self.first = min((at for at in (self.first, other.first) if at), default=None)
        self.last = max((at for at in (self.last, other.last) if at), default=None)


class SourceCounts(Struct):
    """Sources of a snapshot: record counts by kind and server counts by registry."""

    kinds: dict[str, KindCounts] = field(default_factory=dict)
    registries: Counter[str] = field(default_factory=Counter)

    def add(self, other: SourceCounts) -> None:
        """Add the counts of another batch."""
        for kind, source in other.kinds.items():
            self.kinds.setdefault(kind, KindCounts()).add(source)
        self.registries += other.registries
