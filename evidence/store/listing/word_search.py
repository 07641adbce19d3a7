"""Full-text search of an edition: servers whose name, purpose, tools or README have words with given prefixes.

The index is the table `listing_text`, which a migration creates: an FTS5 table on SQLite, columns with a `tsvector` and
its GIN index on PostgreSQL. Both hold the words of search_words.py, so both find the same servers. Words consist of
letters and digits only, so no text of a query can be part of the syntax of a full-text query.

For rare words the places of the servers are read. For common words each server of the order is checked instead, which
soon fills a page. The databases themselves would choose a join, which reads a whole list for each page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from msgspec import Struct
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Integer,
    Text,
    any_,
    cast,
    column,
    func,
    literal,
    or_,
    select,
    table,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, TSQUERY

from evidence.store.listing.search_words import TEXT_FIELDS, SearchTerm, ServerWords
from evidence.store.sql.json_columns import to_json
from evidence.store.tables.listing import LISTING_ORDER

# On SQLite a row id is the key of the edition, shifted by 32 bits, plus the place of the server.
_INSERT_SQLITE: Final = (
    "INSERT INTO listing_text (rowid, name, purpose, tools, readme) VALUES ((? << 32) + ?, ?, ?, ?, ?)"
)
_INSERT_POSTGRESQL: Final = text(
    "INSERT INTO listing_text (edition, place, name, purpose, tools, readme, words)"
    " SELECT :edition, place, name, purpose, tools, readme,"
    " array_to_tsvector(array_remove(string_to_array(concat_ws(' ', name, purpose, tools, readme), ' '), ''))"
    " FROM unnest(CAST(:places AS integer[]), CAST(:names AS text[]), CAST(:purposes AS text[]),"
    " CAST(:tools AS text[]), CAST(:readmes AS text[])) AS new (place, name, purpose, tools, readme)"
)
_DELETE_SQLITE: Final = text(
    "DELETE FROM listing_text WHERE rowid >= (:edition << 32) AND rowid < ((:edition + 1) << 32)"
)
_DELETE_POSTGRESQL: Final = text("DELETE FROM listing_text WHERE edition = :edition")
_FIND_SQLITE: Final = text(
    "SELECT rowid - (:edition << 32) FROM listing_text WHERE listing_text MATCH :query"
    " AND rowid >= (:edition << 32) AND rowid < ((:edition + 1) << 32) LIMIT :most"
)
# Without the inner query the limit makes the planner read the whole table, and unpack each row, for words of a tenth.
_FIND_POSTGRESQL: Final = text(
    "WITH found AS MATERIALIZED"
    " (SELECT place FROM listing_text WHERE edition = :edition AND words @@ CAST(:query AS tsquery))"
    " SELECT place FROM found LIMIT :most"
)
_READ_SQLITE: Final = text(
    "SELECT rowid - (:edition << 32) AS place, name, purpose, tools, readme FROM listing_text"
    " WHERE rowid IN (SELECT (:edition << 32) + value FROM json_each(:places))"
)
_READ_POSTGRESQL: Final = text(
    "SELECT place, name, purpose, tools, readme FROM listing_text"
    " WHERE edition = :edition AND place = ANY(CAST(:places AS integer[]))"
)
_TEXT: Final = table(
    "listing_text",
    *(column("rowid", BigInteger), column("edition", Integer), column("place", Integer)),
    *(column(name, Text) for name in (*TEXT_FIELDS, "words")),
)


WordTexts: TypeAlias = tuple[str, str, str, str]
"""The words of the fields of one server."""


class WordMatches(Struct, frozen=True):
    """The places of the servers that match all terms of a query; None when they are many or the query has no terms."""

    edition: int
    terms: Sequence[SearchTerm] = ()
    places: frozenset[int] | None = None

    @property
    def is_common(self) -> bool:
        """True when each server of the order must be checked."""
        return bool(self.terms) and self.places is None

    def conditions(self, connection: Connection) -> list[ColumnElement[bool]]:
        """Conditions on the rows of an order whose servers match all terms."""
        if self.places is not None:
            return [is_at_places(connection, LISTING_ORDER.c.place, self.places)]
        if not self.terms:
            return []
        if connection.dialect.name == "sqlite":
            return [_has_term(self.edition, term) for term in self.terms]
        return [_has_words(self.edition, _tsquery_of_all(self.terms))]


def find_servers_by_words(connection: Connection, edition: int, terms: Sequence[SearchTerm], most: int) -> WordMatches:
    """Find the servers that match all terms, if they are fewer than `most`."""
    if not terms:
        return WordMatches(edition)
    found = _find(connection, edition, terms, most)
    return WordMatches(edition, terms, frozenset(found) if len(found) < most else None)


def has_any_word(connection: Connection, edition: int, terms: Sequence[SearchTerm]) -> ColumnElement[bool]:
    """Condition on the rows of an order whose servers match at least one term."""
    if connection.dialect.name == "sqlite":
        return or_(*(_has_term(edition, term) for term in terms))
    return _has_words(edition, " | ".join(map(_tsquery, terms)))


def read_words(connection: Connection, edition: int, places: Iterable[int]) -> Mapping[int, ServerWords]:
    """The words of the servers at some places."""
    texts = read_word_texts(connection, edition, places)
    return {place: ServerWords(*(tuple(text.split()) for text in found)) for place, found in texts.items()}


def read_word_texts(connection: Connection, edition: int, places: Iterable[int]) -> Mapping[int, WordTexts]:
    """The same as texts, each word between spaces, in which words are found without splitting them."""
    is_sqlite = connection.dialect.name == "sqlite"
    at: Any = to_json(sorted(places)) if is_sqlite else sorted(places)
    rows = connection.execute(_READ_SQLITE if is_sqlite else _READ_POSTGRESQL, {"edition": edition, "places": at})
    return {row.place: (f" {row.name} ", f" {row.purpose} ", f" {row.tools} ", f" {row.readme} ") for row in rows}


def add_words(connection: Connection, edition: int, words: Sequence[tuple[int, ServerWords]]) -> None:
    """Add the words of servers, with their places, to the index."""
    rows = [(place, *map(" ".join, (some.name, some.purpose, some.tools, some.readme))) for place, some in words]
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql(_INSERT_SQLITE, [(edition, *row) for row in rows])
        return
    names = ("places", "names", "purposes", "tools", "readmes")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    connection.execute(_INSERT_POSTGRESQL, {"edition": edition, **columns})


def drop_words(connection: Connection, editions: Iterable[int]) -> None:
    """Remove editions from the index."""
    statement = _DELETE_SQLITE if connection.dialect.name == "sqlite" else _DELETE_POSTGRESQL
    for edition in editions:
        connection.execute(statement, {"edition": edition})


def is_at_places(connection: Connection, place: ColumnElement[int], places: Iterable[int]) -> ColumnElement[bool]:
    """Condition on rows whose `place` is one of these, in a statement that is the same for any number of places."""
    at = sorted(places)
    if connection.dialect.name == "sqlite":
        return place.in_(select(func.json_each(to_json(at)).table_valued("value").c.value))
    return place == any_(literal(at, ARRAY(Integer)))


def _find(connection: Connection, edition: int, terms: Sequence[SearchTerm], most: int) -> Sequence[int]:
    is_sqlite = connection.dialect.name == "sqlite"
    query = _fts5(terms) if is_sqlite else _tsquery_of_all(terms)
    statement = _FIND_SQLITE if is_sqlite else _FIND_POSTGRESQL
    return connection.scalars(statement, {"edition": edition, "query": query, "most": most}).all()


def _fts5(terms: Sequence[SearchTerm]) -> str:
    return " AND ".join(f'("{term.word}"*' + (f' OR "{term.stem}")' if term.stem else ")") for term in terms)


def _tsquery_of_all(terms: Sequence[SearchTerm]) -> str:
    return " & ".join(map(_tsquery, terms))


def _tsquery(term: SearchTerm) -> str:
    return f"('{term.word}':*" + (f" | '{term.stem}')" if term.stem else ")")


def _has_term(edition: int, term: SearchTerm) -> ColumnElement[bool]:
    """For SQLite, where FTS5 would read all matches of the term for each checked server."""
    joined: ColumnElement[str] = literal(" ")
    for field in (_TEXT.c[name] for name in TEXT_FIELDS):
        joined = joined.concat(field).concat(" ")
    words = select(joined).where(_TEXT.c.rowid == (edition << 32) + LISTING_ORDER.c.place)
    spaced = words.correlate(LISTING_ORDER).scalar_subquery()
    begins = func.instr(spaced, f" {term.word}") > 0
    return or_(begins, func.instr(spaced, f" {term.stem} ") > 0) if term.stem else begins


def _has_words(edition: int, tsquery: str) -> ColumnElement[bool]:
    """For PostgreSQL; the limit prevents the planner from using a join."""
    of = (_TEXT.c.edition == edition, _TEXT.c.place == LISTING_ORDER.c.place)
    one = select(_TEXT.c.place).where(*of, _TEXT.c.words.op("@@")(cast(tsquery, TSQUERY))).limit(1)
    return one.correlate(LISTING_ORDER).scalar_subquery().is_not(None)
