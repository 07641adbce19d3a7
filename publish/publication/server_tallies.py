"""Counts of some servers of a run that can be stored as JSON and merged with those of other servers."""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final, TypeAlias

from msgspec import Struct, field

from evidence.derive.secret_scrubbing import scrub_text
from evidence.store import ListedServer
from publish.publication.receipt_counts import ReceiptCounts

Section: TypeAlias = tuple[str, ...]

_NAME: Final = 160


def name_server(listed: ListedServer) -> dict[str, Any]:
    """The id, the name and the reference of a server, without secrets."""
    name, ref = (scrub_text(text[:_NAME]) for text in (listed.server.name, listed.server.ref))
    return {"server": listed.server.id, "name": name, "ref": ref}


class _Named(Struct, frozen=True):
    """A named server with its weight. Sorts by weight; among equal ones, the lowest id is the greatest."""

    weight: Decimal
    named: Mapping[str, Any]

    def __lt__(self, other: _Named) -> bool:
        return (self.weight, other.named["server"]) < (other.weight, self.named["server"])


class Heaviest(Struct, dict=True):
    """The named servers of the greatest weights, independently of the order in which they come."""

    most: int
    _found: list[_Named] = field(default_factory=list)

    def add(self, weight: Decimal, named: Mapping[str, Any]) -> None:
        heapq.heappush(self._found, _Named(weight, named))
        if len(self._found) > self.most:
            heapq.heappop(self._found)

    def list_named(self) -> list[Mapping[str, Any]]:
        """The heaviest first."""
        return [one.named for one in sorted(self._found, reverse=True)]

    def as_json(self) -> list[list[Any]]:
        return [[str(one.weight), one.named] for one in self._found]


class ServerTallies(Struct, dict=True):
    """Numbers by section and name, the heaviest servers by section, and the counts of the receipts."""

    receipts: ReceiptCounts = field(default_factory=ReceiptCounts)
    _numbers: dict[Section, Counter[str]] = field(default_factory=dict)
    _heaviest: dict[Section, Heaviest] = field(default_factory=dict)

    def of(self, *section: str) -> Counter[str]:
        """The numbers of a section by name."""
        return self._numbers.setdefault(section, Counter())

    def list_sections(self, first: str) -> list[str]:
        """The second names of the sections that begin with this name, sorted."""
        return sorted({section[1] for section in self._numbers if section[0] == first})

    def heaviest(self, most: int, *section: str) -> Heaviest:
        return self._heaviest.setdefault(section, Heaviest(most))

    def as_json(self) -> dict[str, Any]:
        return {
            "receipts": self.receipts.as_json(),
            "numbers": [[section, dict(numbers)] for section, numbers in self._numbers.items()],
            "heaviest": [[section, one.most, one.as_json()] for section, one in self._heaviest.items()],
        }

    def merge(self, tallies: Mapping[str, Any]) -> None:
        """Add the counts of other servers, as `as_json` returns them."""
        self.receipts.merge(tallies["receipts"])
        for section, numbers in tallies["numbers"]:
            self.of(*section).update(numbers)
        for section, most, found in tallies["heaviest"]:
            for weight, named in found:
                self.heaviest(most, *section).add(Decimal(weight), named)
