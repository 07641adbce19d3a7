"""An edition of the board in memory: the lists that `board_reading` reads, without a question to the database.

Who is in a list is told by a mask, a byte for each server, or by a few servers, and each order is an array of all: a
page is found by looking for the next byte that is set.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial, reduce
from itertools import islice
from operator import and_
from threading import Lock
from typing import Final, NamedTuple, Protocol, TypeAlias

from evidence.model import Server, ServerId
from evidence.store.board_packing import Glance, glance, unpack
from evidence.store.board_places import Places
from evidence.store.board_ranks import Spot, in_parts, read_cursor
from evidence.store.board_reading import Edition
from evidence.store.board_rows import BoardPage, BoardQuery, Listed
from evidence.store.board_words import after_all, wanted_words
from evidence.store.servers import stored_server

FEW: Final = 4_000
"""Servers with a word of a search that are looked at one by one; of a word that more have a mask is made."""

MASKS: Final = 128
"""Masks that are remembered: those of filters that many pages have. Each is a byte for each server."""

Mask: TypeAlias = bytes
"""A byte for each server, 1 or 0; by place, or by position in an order."""

_IN: Final = b"\x01"

UNSCORED: Final = -1


@dataclass(frozen=True, slots=True)
class Rows:
    """What the tables hold of the server of each place: a list for each column, which the garbage collector passes."""

    refs: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)
    repositories: list[str | None] = field(default_factory=list)
    registries: list[str] = field(default_factory=list)
    seen: list[datetime] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)

    def server(self, place: int) -> Server:
        """A server as it is stored."""
        return stored_server(
            self.refs[place], self.names[place], self.targets[place], self.repositories[place], self.registries[place]
        )


@dataclass(frozen=True, slots=True)
class Order:
    """All servers in one order: their places and ranks by position, and their positions by place."""

    places: array[int]
    ranks: array[int]
    positions: array[int]

    def spot(self, sort: int, position: int, *, backwards: bool = False) -> Spot:
        """A position, which is the order's number `sort`, as addresses name it."""
        return Spot(sort, self.ranks[position], self.places[position], backwards)

    def behind(self, spot: Spot) -> int:
        """The first position behind a spot."""
        return bisect_right(self.places, spot.place, *self._alike(spot))

    def ahead_of(self, spot: Spot) -> int:
        """The last position ahead of a spot, -1 when there is none."""
        return bisect_left(self.places, spot.place, *self._alike(spot)) - 1

    def _alike(self, spot: Spot) -> tuple[int, int]:
        return bisect_left(self.ranks, spot.rank), bisect_right(self.ranks, spot.rank)


@dataclass(frozen=True, slots=True)
class Verdicts:
    """What one version of a rubric says of the server of each place; scores as `in_parts`, UNSCORED without one."""

    grades: Sequence[str | None]
    scores: array[int]


@dataclass(frozen=True, slots=True)
class Words:
    """All words, sorted; the places of servers with word `n` are those from `starts[n]` to `starts[n + 1]`."""

    words: Sequence[str]
    starts: array[int]
    places: array[int]

    def beginning(self, word: str) -> array[int]:
        """Places of the servers with a word that begins so; one may come twice."""
        first, end = bisect_left(self.words, word), bisect_left(self.words, after_all(word))
        return self.places[self.starts[first] : self.starts[end]]


class Filter(NamedTuple):
    """Who is in a list, by place: a mask to be made, under the key by which it is remembered."""

    key: object
    make: Callable[[], Iterable[int]]


class Chosen(Protocol):
    """The positions of those who are in a list."""

    @property
    def count(self) -> int:
        """How many there are."""
        ...

    def walk(self, start: int, *, down: bool) -> Iterator[int]:
        """Their positions from one on, which may be none of them."""
        ...


@dataclass(frozen=True, slots=True)
class Everybody:
    """All servers."""

    count: int

    def walk(self, start: int, *, down: bool) -> Iterator[int]:
        """One after the other."""
        return iter(range(start, -1, -1) if down else range(start, self.count))


@dataclass(frozen=True, slots=True)
class Some:
    """A few servers: their positions, sorted."""

    found: Sequence[int]

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.found)

    def walk(self, start: int, *, down: bool) -> Iterator[int]:
        """One after the other."""
        if down:
            return reversed(self.found[: bisect_right(self.found, start)])
        return iter(self.found[bisect_left(self.found, start) :])


@dataclass(frozen=True, slots=True)
class Many:
    """The servers of a mask by position, and how many there are: to count them takes as long as the page itself."""

    mask: Mask
    count: int

    def walk(self, start: int, *, down: bool) -> Iterator[int]:
        """From one to the next."""
        at = start
        while (at := self.mask.rfind(_IN, 0, at + 1) if down else self.mask.find(_IN, at)) >= 0:
            yield at
            at += -1 if down else 1


@dataclass(frozen=True)
class BoardIndex:
    """One edition. Everything but `orders`, `verdicts` and `words` is by place; orders and verdicts are by number."""

    edition: Edition
    ids: Sequence[ServerId]
    keys: array[int]
    kinds: array[int]
    rows: Rows
    orders: dict[int, Order]
    verdicts: dict[int, Verdicts]
    words: Words
    _masks: dict[object, Many] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def page(self, query: BoardQuery, cursor: str | None, limit: int, hidden: frozenset[int]) -> BoardPage:
        """A page of a list without those at `hidden` places; raise BadCursor or UnknownRubric."""
        sort = self.edition.sort(query)
        order = self.orders[sort]
        spot = None if cursor is None else read_cursor(cursor, sort)
        backwards = spot is not None and spot.backwards
        down = query.reverse != backwards
        chosen = self._chosen(query, sort, hidden)
        found = list(islice(chosen.walk(self._start(order, spot, down=down), down=down), limit + 1))
        more, found = len(found) > limit, found[:limit]
        if backwards:
            found.reverse()
        has_later, has_earlier = (True, more) if backwards else (more, spot is not None)
        return BoardPage(
            servers=Places(self.edition.key, tuple(map(order.places.__getitem__, found)), self),
            after=order.spot(sort, found[-1]).cursor if found and has_later else None,
            before=order.spot(sort, found[0], backwards=True).cursor if found and has_earlier else None,
            total=chosen.count,
            counted=chosen.count,
            run=self.edition.run,
        )

    def find(self, server: ServerId, hidden: frozenset[int]) -> Listed | None:
        """One server, unless it is hidden."""
        place = bisect_left(self.ids, server)
        is_here = place < len(self.ids) and self.ids[place] == server and place not in hidden
        return self.listed(place) if is_here else None

    def listed(self, place: int) -> Listed:
        """The server of a place."""
        rows = self.rows
        return unpack(rows.bodies[place], rows.server(place), self.edition.run, rows.seen[place])

    def glance(self, place: int) -> Glance:
        """The server of a place, as it is packed."""
        rows = self.rows
        server = (self.ids[place], rows.refs[place], rows.names[place], rows.repositories[place])
        return glance(rows.bodies[place], server, self.edition.run, rows.seen[place])

    def places_of(self, keys: Iterable[int]) -> frozenset[int]:
        """The places of servers by their keys; those that are not in the edition have none."""
        wanted = frozenset(keys)
        return frozenset(place for place, key in enumerate(self.keys) if key in wanted) if wanted else wanted

    def _start(self, order: Order, spot: Spot | None, *, down: bool) -> int:
        if spot is None:
            return len(self.ids) - 1 if down else 0
        return order.ahead_of(spot) if down else order.behind(spot)

    def _chosen(self, query: BoardQuery, sort: int, hidden: frozenset[int]) -> Chosen:
        filters = [*self._filters(query), *self._without(hidden)]
        rare: set[int] | None = None
        for word in wanted_words(query.text):
            places = self.words.beginning(word)
            if len(places) > FEW:
                filters.append(Filter(("word", word), partial(self._marked, places)))
            else:
                rare = set(places) if rare is None else rare.intersection(places)
        if rare is None:
            return self._in_order(sort, filters) if filters else Everybody(len(self.ids))
        few: Iterable[int] = rare
        for one in filters if rare else ():
            mask = self._many(one).mask
            few = [place for place in few if mask[place]]
        return Some(sorted(map(self.orders[sort].positions.__getitem__, few)))

    def _filters(self, query: BoardQuery) -> Iterator[Filter]:
        """What a question asks beside words."""
        if (kinds := self.edition.kinds.matching(query)) is not None:
            wanted = frozenset(kinds)
            yield Filter(("kinds", wanted), lambda: map(wanted.__contains__, self.kinds))
        if query.grade is None and query.least is None:
            return
        rubric = self.edition.rubric(query)
        verdicts = self.verdicts[rubric]
        if (grade := query.grade) is not None:
            yield Filter(("grade", rubric, grade), lambda: (one == grade for one in verdicts.grades))
        if query.least is not None:
            least = in_parts(query.least)
            yield Filter(("least", rubric, least), lambda: map(least.__le__, verdicts.scores))

    def _without(self, hidden: frozenset[int]) -> Iterator[Filter]:
        if hidden:
            yield Filter(("hidden", hidden), lambda: (place not in hidden for place in range(len(self.ids))))

    def _marked(self, places: Iterable[int]) -> Mask:
        mask = bytearray(len(self.ids))
        for place in places:
            mask[place] = 1
        return bytes(mask)

    def _in_order(self, sort: int, filters: Sequence[Filter]) -> Many:
        """Who passes all filters, by position."""

        def make() -> Iterable[int]:
            numbers = (int.from_bytes(self._many(one).mask, "big") for one in filters)
            passes = reduce(and_, numbers).to_bytes(len(self.ids), "big")
            return map(passes.__getitem__, self.orders[sort].places)

        return self._many(Filter(("order", sort, *(one.key for one in filters)), make))

    def _many(self, wanted: Filter) -> Many:
        """The mask of a filter, which may have been made before."""
        many = self._masks.get(wanted.key)
        if many is None:
            mask = bytes(wanted.make())
            many = Many(mask, mask.count(_IN))
            with self._lock:
                if len(self._masks) >= MASKS:
                    del self._masks[next(iter(self._masks))]
                self._masks[wanted.key] = many
        return many
