"""The table of servers: its columns, its orders, and the static pages that stand for sorting it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, TypeAlias

from publish.overview import Overview, ServerRow, State
from scoring.standing import RankKey

PAGE = 250
FIRST: Final = "servers.html"

_NOTHING = Decimal(-1)
_STATES = list(State)

SortKey: TypeAlias = Callable[[ServerRow], Any]


@dataclass(frozen=True, slots=True)
class Rubric:
    """A version of a methodology that the run was scored with. `key` is safe in file names and ids."""

    id: str
    version: int
    title: str
    source_version: str = ""

    @property
    def key(self) -> str:
        """Names the rubric in links."""
        return f"{self.id}-{self.version}"


@dataclass(frozen=True, slots=True)
class Column:
    """A heading. `sorted` is the value of `aria-sort`, empty when the table is in another order."""

    title: str
    href: str
    sorted: str
    numeric: bool


@dataclass(frozen=True, slots=True)
class Table:
    """One page of the table in one order. `order` says in words which."""

    rows: Sequence[ServerRow]
    columns: tuple[Column, ...]
    rubrics: Sequence[Rubric]
    main: Rubric | None
    order: str
    caption: str
    more: int = 0


@dataclass(frozen=True, slots=True)
class Page:
    """A page's link."""

    number: int
    href: str


@dataclass(frozen=True, slots=True)
class _Order:
    name: str
    title: str
    words: str
    key: SortKey
    descending: bool
    numeric: bool

    @property
    def file(self) -> str:
        return FIRST if not self.name else f"servers-by-{self.name}.html"


@dataclass(frozen=True)
class Tables:
    """All tables of a run."""

    overview: Overview
    rubrics: Sequence[Rubric]
    main: Rubric | None

    def first(self, limit: int) -> Table:
        """The beginning of the table in its usual order, for the overview page."""
        order = self._usual()
        rows = self._sorted(order)
        return self._table(order, rows[:limit], more=max(0, len(rows) - limit))

    def pages(self) -> Iterator[tuple[str, int, Sequence[Page], Table]]:
        """Every page of every order: file name, number, links to its siblings, table."""
        for order in self._orders():
            rows = self._sorted(order)
            starts = range(0, max(1, len(rows)), PAGE)
            links = [Page(number, _file(order, number)) for number, _ in enumerate(starts, start=1)]
            for link, start in zip(links, starts, strict=True):
                yield link.href, link.number, links, self._table(order, rows[start : start + PAGE])

    def _usual(self) -> _Order:
        return next(order for order in self._orders() if order.file == FIRST)

    def _sorted(self, order: _Order) -> list[ServerRow]:
        by_id = sorted(self.overview.rows, key=lambda row: row.id)
        return sorted(by_id, key=order.key, reverse=order.descending)

    def _table(self, order: _Order, rows: Sequence[ServerRow], more: int = 0) -> Table:
        direction = "descending" if order.numeric else "ascending"
        columns = tuple(
            Column(other.title, other.file, direction if other.name == order.name else "", other.numeric)
            for other in self._orders()
        )
        caption = f"Servers by {order.words}"
        return Table(rows, columns, self.rubrics, self.main, order.words, caption, more)

    def _orders(self) -> list[_Order]:
        by_name = _Order("name" if self.main else "", "Server", "name", _name, False, False)
        scores = [
            _Order(
                "" if rubric == self.main else rubric.key,
                f"{rubric.id} {rubric.version}",
                f"{rubric.id} score",
                _score(rubric),
                False,
                True,
            )
            for rubric in self.rubrics
        ]
        rest = [
            _Order("coverage", "Coverage", "coverage", _coverage(self.main), True, True),
            _Order("tools", "Tools", "number of tools", lambda row: -1 if row.tools is None else row.tools, True, True),
            _Order("state", "Seen", "what could be seen", _state, False, False),
        ]
        return [by_name, *scores, *rest]


def _file(order: _Order, number: int) -> str:
    return order.file if number == 1 else f"{order.file.removesuffix('.html')}-{number}.html"


def _name(row: ServerRow) -> tuple[str, str]:
    return (row.name or row.ref).casefold(), row.id


def _score(rubric: Rubric) -> SortKey:
    def score(row: ServerRow) -> tuple[bool, RankKey | tuple[()]]:
        """By what the evidence guarantees; servers without a receipt last."""
        mark = row.mark(rubric.id, rubric.version)
        return (True, ()) if mark is None else (False, mark.rank(row.id))

    return score


def _coverage(rubric: Rubric | None) -> SortKey:
    def coverage(row: ServerRow) -> Decimal:
        mark = row.mark(rubric.id, rubric.version) if rubric else None
        return mark.coverage if mark else _NOTHING

    return coverage


def _state(row: ServerRow) -> tuple[int, str]:
    return _STATES.index(row.state), row.reason.value if row.reason else ""
