"""Servers of a page that is held in memory: each is read when somebody looks at it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, overload

from evidence.store.board_packing import Glance
from evidence.store.board_rows import Listed


class Reader(Protocol):
    """Reads the server of a place of an edition."""

    def listed(self, place: int) -> Listed:
        """All of it."""
        ...

    def glance(self, place: int) -> Glance:
        """As it is packed."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Places(Sequence[Listed]):
    """Servers of an edition by their places."""

    edition: int
    places: tuple[int, ...]
    reader: Reader

    def __len__(self) -> int:
        return len(self.places)

    @overload
    def __getitem__(self, index: int) -> Listed: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Listed]: ...

    def __getitem__(self, index: int | slice) -> Listed | Sequence[Listed]:
        if isinstance(index, slice):
            return Places(self.edition, self.places[index], self.reader)
        return self.reader.listed(self.places[index])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))
