"""Queries on the published edition of the listing index: pages of lists and single servers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, TypeAlias

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Row,
    Select,
    and_,
    false,
    func,
    literal,
    literal_column,
    select,
    tuple_,
)

from evidence.model import ServerId
from evidence.store.errors import UnknownRubric
from evidence.store.listing.facet_bits import find_wanted_bits
from evidence.store.listing.ranks import (
    BY_ADDITION,
    BY_DATE,
    BY_NAME,
    FIRST_RUBRIC,
    PagePosition,
    parse_cursor,
    score_to_integer,
)
from evidence.store.listing.search_words import SearchTerm, parse_search_terms, prefix_upper_bound
from evidence.store.listing.server_packing import FilterGroups, unpack_server
from evidence.store.listing.values import ListedServer, ListingPage, ListingQuery
from evidence.store.listing.word_search import WordMatches, find_servers_by_words
from evidence.store.servers.lookup import server_from_row
from evidence.store.sql.json_columns import from_json
from evidence.store.tables.core import RUN, SERVER
from evidence.store.tables.listing import LISTING_EDITION, LISTING_HIDDEN, LISTING_ORDER, LISTING_SERVER

COUNTED: Final = 1_000
"""The exact count of a result stops here; a larger result has a lower bound only."""

_SERVERS: Final = select(SERVER, LISTING_SERVER.c.place, LISTING_SERVER.c.seen, LISTING_SERVER.c.body).join(
    LISTING_SERVER, LISTING_SERVER.c.server_key == SERVER.c.key
)
FEW: Final = 16
"""If less than one in this many servers matches the words of a search, the matches are read one by one."""

MANY: Final = 3_000
"""Words that this many servers match are common: a page is full before many servers are checked."""

_REMEMBERED: Final = 10_000
"""Searches that are remembered as common in an edition."""

QueryConditions: TypeAlias = list[ColumnElement[bool]]


@dataclass(frozen=True, slots=True)
class Edition:
    """The properties of an edition. They are read once, since only `hides` (a server is hidden) can change.

    `common` has the numbers and terms of searches that found so many servers or more.
    """

    key: int
    hides: bool
    run: str
    servers: int
    rubrics: tuple[tuple[str, int], ...]
    kinds: FilterGroups
    facets: tuple[str, ...]
    common: set[tuple[int | SearchTerm, ...]] = field(default_factory=set, compare=False)

    def sort(self, query: ListingQuery) -> int:
        """The number of a query's sort order."""
        match query.sort:
            case "name":
                return BY_NAME
            case "seen":
                return BY_DATE
            case "added":
                return BY_ADDITION
            case _:
                return self.rubric(query)

    def rubric(self, query: ListingQuery) -> int:
        """The number of the order of a query's rubric; raise UnknownRubric."""
        versions = {version: number for number, (rubric, version) in enumerate(self.rubrics) if rubric == query.rubric}
        if not versions or (query.version is not None and query.version not in versions):
            names = ", ".join(f"{rubric}@{version}" for rubric, version in sorted(self.rubrics)) or "none"
            raise UnknownRubric(f"expected one of the rubrics that servers are scored with: {names}")
        return FIRST_RUBRIC + versions[max(versions) if query.version is None else query.version]


def read_edition(connection: Connection, key: int, hides: bool) -> Edition:
    edition = LISTING_EDITION.c
    query = select(edition.servers, edition.rubrics, edition.kinds, edition.facets, RUN.c.id)
    row = connection.execute(
        query.join(RUN, RUN.c.key == LISTING_EDITION.c.run_key).where(LISTING_EDITION.c.key == key)
    ).one()
    rubrics = tuple((rubric, version) for rubric, version in from_json(row.rubrics))
    kinds, facets = FilterGroups.from_json(row.kinds), tuple(map(str, from_json(row.facets)))
    return Edition(key, hides, row.id, row.servers, rubrics, kinds, facets)


def read_page(
    connection: Connection, edition: Edition, query: ListingQuery, cursor: str | None, limit: int
) -> ListingPage:
    """A page of a list; raise BadCursor or UnknownRubric."""
    sort = edition.sort(query)
    position = None if cursor is None else parse_cursor(cursor, sort)
    where = list_conditions(edition, query)
    found = find_matches(connection, edition, parse_search_terms(query.text), MANY)
    where += found.conditions(connection)
    few = found.places is not None and len(found.places) * FEW < edition.servers
    rows = _rows(connection, edition, sort, where, position, reverse=query.reverse, limit=limit + 1, few=few)
    more, rows = len(rows) > limit, rows[:limit]
    backwards = position is not None and position.backwards
    if backwards:
        rows.reverse()
    has_later, has_earlier = (True, more) if backwards else (more, position is not None)
    is_all = position is None and not more
    if is_all or found.is_common:
        total, counted = (len(rows) if is_all else None), len(rows)
    else:
        total, counted = _count(connection, edition, query, where)
    return ListingPage(
        servers=tuple(make_listed(edition, row) for row in rows),
        after=PagePosition(sort, rows[-1].rank, rows[-1].place).cursor if rows and has_later else None,
        before=PagePosition(sort, rows[0].rank, rows[0].place, backwards=True).cursor if rows and has_earlier else None,
        total=total,
        counted=counted,
        run=edition.run,
    )


def find_matches(connection: Connection, edition: Edition, terms: Sequence[SearchTerm], most: int) -> WordMatches:
    """The servers that match all terms, if they are fewer than `most`.

    The database reads all matches of a common word before it returns the first one, so such words are remembered.
    """
    asked: tuple[int | SearchTerm, ...] = (most, *terms)
    if asked in edition.common:
        return WordMatches(edition.key, terms)
    matches = find_servers_by_words(connection, edition.key, terms, most)
    if matches.is_common and len(edition.common) < _REMEMBERED:
        edition.common.add(asked)
    return matches


def read_indexed(connection: Connection, edition: Edition, prefix: str) -> list[tuple[ServerId, datetime]]:
    """Ids and dates of servers whose pages may be indexed and whose ids have a prefix, in the order of ids."""
    server = LISTING_SERVER.c
    query = select(SERVER.c.id, server.seen).join(LISTING_SERVER, server.server_key == SERVER.c.key)
    begins = (SERVER.c.id >= prefix, SERVER.c.id < prefix_upper_bound(prefix))
    gated = (server.edition == edition.key, server.kind.in_(edition.kinds.gated()))
    shown = server.server_key.not_in(select(LISTING_HIDDEN.c.server_key))
    return [(row.id, row.seen) for row in connection.execute(query.where(*begins, *gated, shown).order_by(SERVER.c.id))]


def select_servers(edition: Edition) -> Select[Any]:
    """All servers of an edition, with the columns that `make_listed` reads."""
    return _SERVERS.where(LISTING_SERVER.c.edition == edition.key)


def make_listed(edition: Edition, row: Row[Any]) -> ListedServer:
    """The listed server of a row of `select_servers`."""
    return unpack_server(row.body, server_from_row(row), edition.run, row.seen)


def list_conditions(edition: Edition, query: ListingQuery) -> QueryConditions:
    """Conditions on the rows of an order for the filters of a query, without its words."""
    order = LISTING_ORDER.c
    found: QueryConditions = []
    if (kinds := edition.kinds.matching(query)) is not None:
        found.append(order.kind.in_(sorted(kinds)))
    wanted = find_wanted_bits(edition.facets, query)
    if wanted is None:
        found.append(false())
    elif wanted:
        found.append(order.facets.bitwise_and(wanted) == wanted)
    if query.grade is not None or query.minimum is not None:
        found.append(_scored(edition, query, order))
    if edition.hides:
        found.append(order.place.not_in(_hidden(edition)))
    return found


def _scored(edition: Edition, query: ListingQuery, order: Any) -> ColumnElement[bool]:
    """Servers with a grade and a minimum of points by the query's rubric, in any sort order."""
    rubric = edition.rubric(query)
    of_rubric = order if query.sort == "rank" else LISTING_ORDER.alias("scored").c
    conditions: QueryConditions = [of_rubric.edition == edition.key, of_rubric.sort == rubric]
    if query.grade is not None:
        conditions.append(of_rubric.grade == query.grade)
    if query.minimum is not None:
        conditions.append(of_rubric.score >= score_to_integer(query.minimum))
    return and_(*conditions) if of_rubric is order else order.place.in_(select(of_rubric.place).where(*conditions))


def _hidden(edition: Edition) -> Select[tuple[int]]:
    query = select(LISTING_SERVER.c.place).join(
        LISTING_HIDDEN, LISTING_HIDDEN.c.server_key == LISTING_SERVER.c.server_key
    )
    return query.where(LISTING_SERVER.c.edition == edition.key)


def _rows(
    connection: Connection,
    edition: Edition,
    sort: int,
    where: QueryConditions,
    position: PagePosition | None,
    *,
    reverse: bool,
    limit: int,
    few: bool,
) -> list[Row[Any]]:
    """Rows of an order from a position on, in the direction of reading; a `few` matches are read by key and sorted."""
    order = LISTING_ORDER.c
    positioned = select(order.rank, order.place).where(order.edition == edition.key, order.sort == sort, *where)
    down = reverse != (position is not None and position.backwards)
    if position is not None:
        here, there = (
            tuple_(order.rank, order.place),
            tuple_(literal(position.rank, BigInteger), literal(position.place)),
        )
        positioned = positioned.where(here < there if down else here > there)
    # Where the index has the sort order, SQLite would read the whole order to avoid sorting a few rows.
    keys = (order.rank + literal_column("0") if few else order.rank, order.place)
    page = positioned.order_by(*(key.desc() if down else key for key in keys)).limit(limit).subquery("page")
    query = select_servers(edition).add_columns(page.c.rank).join(page, page.c.place == LISTING_SERVER.c.place)
    ordered = query.order_by(*(key.desc() if down else key for key in (page.c.rank, page.c.place)))
    return list(connection.execute(ordered).all())


def _count(
    connection: Connection, edition: Edition, query: ListingQuery, where: QueryConditions
) -> tuple[int | None, int]:
    """The number of servers that match a query: exact if it is known or small, otherwise None and a lower bound."""
    if _filters_groups_only(query) and find_wanted_bits(edition.facets, query) == 0:
        kinds = edition.kinds.matching(query)
        shown = edition.servers if kinds is None else sum(kinds.values())
        if not edition.hides:
            return shown, shown
        hidden = select(LISTING_SERVER.c.kind, func.count()).where(
            LISTING_SERVER.c.edition == edition.key,
            LISTING_SERVER.c.server_key.in_(select(LISTING_HIDDEN.c.server_key)),
        )
        gone = connection.execute(hidden.group_by(LISTING_SERVER.c.kind))
        exact = shown - sum(count for kind, count in gone if kinds is None or kind in kinds)
        return exact, exact
    order = LISTING_ORDER.c
    some = select(order.place).where(order.edition == edition.key, order.sort == edition.sort(query), *where)
    counted = connection.scalar(select(func.count()).select_from(some.limit(COUNTED + 1).subquery())) or 0
    return (counted, counted) if counted <= COUNTED else (None, COUNTED)


def _filters_groups_only(query: ListingQuery) -> bool:
    return not parse_search_terms(query.text) and query.grade is None and query.minimum is None
