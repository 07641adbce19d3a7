"""Which edition of the board a process has in memory, and how long it may be taken for the one that is shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from threading import Lock

from sqlalchemy import Connection, select

from evidence.model import ServerId
from evidence.store.board_index import BoardIndex
from evidence.store.board_models import BOARD_HIDDEN
from evidence.store.board_reading import Edition
from evidence.store.board_rows import BoardPage, BoardQuery, Listed
from evidence.store.board_shown import find_shown

_NOBODY: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Held:
    """An edition in memory, and the places of those whom it hides."""

    index: BoardIndex
    hidden: frozenset[int]

    def page(self, query: BoardQuery, cursor: str | None, limit: int) -> BoardPage:
        """A page of a list; raise BadCursor or UnknownRubric."""
        return self.index.page(query, cursor, limit, self.hidden)

    def find(self, server: ServerId) -> Listed | None:
        """One server, unless it is hidden."""
        return self.index.find(server, self.hidden)


class Memory:
    """Keeps one edition, of at most so many servers. What was seen to be shown counts for so many seconds."""

    def __init__(self, most: int, seconds: float, monotonic: Callable[[], float]) -> None:
        self._most = most
        self._seconds = seconds
        self._monotonic = monotonic
        self._lock = Lock()
        self._held: Held | None = None
        self._hidden = _NOBODY
        self._shown: int | None = None
        self._last: int | None = None
        self._seen = -inf

    def now(self) -> Held | None:
        """What is shown, if it is in memory and somebody has just looked."""
        with self._lock:
            fresh = self._monotonic() - self._seen < self._seconds
            held = self._held
            return held if held is not None and fresh and held.index.edition.key == self._shown else None

    def see(self, connection: Connection) -> int | None:
        """The edition that is shown now; note is taken of it, and of the servers that it hides."""
        began = self._monotonic()
        shown, hides = find_shown(connection) or (None, False)
        hidden = frozenset(connection.scalars(select(BOARD_HIDDEN.c.server_key))) if hides else _NOBODY
        with self._lock:
            if began >= self._seen:  # else somebody who looked later was sooner
                self._note(shown, hidden, began)
        return shown

    def is_behind(self) -> bool:
        """Whether another edition is shown than the last one that `keep` was told of."""
        with self._lock:
            return self._shown not in {None, self._last}

    def takes(self, edition: Edition) -> bool:
        """Whether there is something of an edition to keep, and room for it."""
        return 0 < edition.servers <= self._most

    def keep(self, edition: int, index: BoardIndex | None) -> None:
        """Have an edition in memory from now on, instead of the one before; None if it cannot be had."""
        with self._lock:
            self._last = edition
            self._held = None if index is None else _held(index, self._hidden)

    def _note(self, shown: int | None, hidden: frozenset[int], at: float) -> None:
        self._shown, self._seen = shown, at
        if hidden != self._hidden:
            self._hidden = hidden
            self._held = self._held and _held(self._held.index, hidden)


def _held(index: BoardIndex, hidden: frozenset[int]) -> Held:
    return Held(index, index.places_of(hidden))
