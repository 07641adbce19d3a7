"""Counts servers by category: how many there are, the best ones, and the score changes since the previous run."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from evidence.derive.secret_scrubbing import scrub_text
from evidence.store import ListedScore, ListedServer
from evidence.store.listing.ranks import rank_score

MAX_BEST: Final = 6
MAX_MOVES: Final = 10
"""Servers of a category that are named: the best, more than pages show, since some may opt out; the changes."""

_NAME: Final = 160


def name_server(listed: ListedServer) -> dict[str, Any]:
    """The id, the name and the reference of a server, without secrets."""
    name, ref = (scrub_text(text[:_NAME]) for text in (listed.server.name, listed.server.ref))
    return {"server": listed.server.id, "name": name, "ref": ref}


@dataclass(frozen=True, slots=True)
class _Named:
    """A named server with its weight. Sorts by weight; among equal ones, the lowest id is the greatest."""

    weight: Decimal | int
    named: Mapping[str, Any]

    def __lt__(self, other: _Named) -> bool:
        return (self.weight, other.named["server"]) < (other.weight, self.named["server"])


@dataclass
class Heaviest:
    """The named servers of the greatest weights, independently of the order in which they come."""

    most: int
    _found: list[_Named] = field(default_factory=list)

    def add(self, weight: Decimal | int, named: Mapping[str, Any]) -> None:
        heapq.heappush(self._found, _Named(weight, named))
        if len(self._found) > self.most:
            heapq.heappop(self._found)

    def as_json(self) -> list[Mapping[str, Any]]:
        """The heaviest first."""
        return [one.named for one in sorted(self._found, reverse=True)]


@dataclass
class CategoryCounter:
    """One category."""

    servers: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    best: Heaviest = field(default_factory=lambda: Heaviest(MAX_BEST))
    moves: Heaviest = field(default_factory=lambda: Heaviest(MAX_MOVES))


class CategoryCounts:
    """All categories of one run, under the default methodology."""

    def __init__(self) -> None:
        self._found: dict[str, CategoryCounter] = {}

    def add(self, listed: ListedServer, score: ListedScore | None) -> None:
        """Count a server; the best are those that guarantee most and whose evidence is not thin."""
        for name in listed.facets.categories:
            counter = self._found.setdefault(name, CategoryCounter())
            counter.servers += 1
            if score is not None and score.score is not None and not score.thin:
                shown = {"score": format(score.score, "f"), "grade": score.grade}
                counter.best.add(-rank_score(score), name_server(listed) | shown)

    def add_move(self, listed: ListedServer, before: Decimal, after: Decimal) -> None:
        """Count a score that changed since the previous run."""
        named = name_server(listed) | {"before": format(before, "f"), "after": format(after, "f")}
        for name in listed.facets.categories:
            counter = self._found.setdefault(name, CategoryCounter())
            counter.counts["up" if after > before else "down"] += 1
            counter.moves.add(abs(after - before), named)

    def count(self, listed: ListedServer, what: str) -> None:
        """Count a server of which the two runs have no two scores: `new`, `lost_score` or `gained_score`."""
        for name in listed.facets.categories:
            self._found.setdefault(name, CategoryCounter()).counts[what] += 1

    def as_json(self) -> list[dict[str, Any]]:
        """The category with the most servers first."""
        ordered = sorted(self._found.items(), key=lambda item: (-item[1].servers, item[0]))
        return [
            {
                "name": name,
                "servers": counter.servers,
                **{what: counter.counts[what] for what in ("up", "down", "lost_score", "gained_score", "new")},
                "best": counter.best.as_json(),
                "moves": counter.moves.as_json(),
            }
            for name, counter in ordered
        ]
