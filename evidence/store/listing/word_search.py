"""Full-text search of an edition: servers whose names or references have words with given prefixes.

The index is the table `listing_text`, which a migration creates: an FTS5 table on SQLite, a `tsvector` with a GIN index
on PostgreSQL. Both hold the words of search_words.py, so both find the same servers. Words consist of letters and
digits only, so no text of a query can be part of the syntax of a full-text query.

For rare words the places of the servers are read. For common words each server of the order is checked instead, which
soon fills a page. The databases themselves would choose a join, which reads a whole list for each page.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

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
    select,
    table,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, TSQUERY

from evidence.store.sql.json_columns import to_json
from evidence.store.tables.listing import LISTING_ORDER

MANY: Final = 3_000
"""Words that this many servers match are common: a page is full before many servers are checked."""

# On SQLite a row id is the key of the edition, shifted by 32 bits, plus the place of the server.
_INSERT_SQLITE: Final = "INSERT INTO listing_text (rowid, words) VALUES ((? << 32) + ?, ?)"
_INSERT_POSTGRESQL: Final = text(
    "INSERT INTO listing_text (edition, place, words)"
    " SELECT :edition, place, array_to_tsvector(string_to_array(words, ' '))"
    " FROM unnest(CAST(:places AS integer[]), CAST(:words AS text[])) AS new (place, words)"
)
_DELETE_SQLITE: Final = text(
    "DELETE FROM listing_text WHERE rowid >= (:edition << 32) AND rowid < ((:edition + 1) << 32)"
)
_DELETE_POSTGRESQL: Final = text("DELETE FROM listing_text WHERE edition = :edition")
_FIND_SQLITE: Final = text(
    "SELECT rowid - (:edition << 32) FROM listing_text WHERE listing_text MATCH :query"
    " AND rowid >= (:edition << 32) AND rowid < ((:edition + 1) << 32) LIMIT :most"
)
_FIND_POSTGRESQL: Final = text(
    "SELECT place FROM listing_text WHERE edition = :edition AND words @@ CAST(:query AS tsquery) LIMIT :most"
)
_COLUMNS: Final = (column("rowid", BigInteger), column("edition", Integer), column("place", Integer))
_TEXT: Final = table("listing_text", *_COLUMNS, column("words", Text))


@dataclass(frozen=True, slots=True)
class WordMatches:
    """The places of the servers that match all words of a query; None when they are many or the query has no words."""

    edition: int
    words: Sequence[str] = ()
    places: frozenset[int] | None = None

    @property
    def is_common(self) -> bool:
        """True when each server of the order must be checked."""
        return bool(self.words) and self.places is None

    def conditions(self, connection: Connection) -> list[ColumnElement[bool]]:
        """Conditions on the rows of an order whose servers match all words."""
        if self.places is not None:
            return [_is_at_places(connection, sorted(self.places))]
        if not self.words:
            return []
        if connection.dialect.name == "sqlite":
            return [_has_word(self.edition, word) for word in self.words]
        return [_has_words(self.edition, self.words)]


def find_servers_by_words(connection: Connection, edition: int, words: Sequence[str]) -> WordMatches:
    """Find servers by prefixes of words."""
    if not words:
        return WordMatches(edition)
    is_sqlite = connection.dialect.name == "sqlite"
    query = _fts5(words) if is_sqlite else _tsquery(words)
    statement = _FIND_SQLITE if is_sqlite else _FIND_POSTGRESQL
    found = connection.scalars(statement, {"edition": edition, "query": query, "most": MANY}).all()
    return WordMatches(edition, words, frozenset(found) if len(found) < MANY else None)


def add_words(connection: Connection, edition: int, words: Sequence[tuple[int, Sequence[str]]]) -> None:
    """Add the words of servers, with their places, to the index."""
    rows = [(place, " ".join(some)) for place, some in words]
    if connection.dialect.name == "sqlite":
        connection.exec_driver_sql(_INSERT_SQLITE, [(edition, place, some) for place, some in rows])
        return
    values = {"edition": edition, "places": [place for place, _ in rows], "words": [some for _, some in rows]}
    connection.execute(_INSERT_POSTGRESQL, values)


def drop_words(connection: Connection, editions: Iterable[int]) -> None:
    """Remove editions from the index."""
    statement = _DELETE_SQLITE if connection.dialect.name == "sqlite" else _DELETE_POSTGRESQL
    for edition in editions:
        connection.execute(statement, {"edition": edition})


def _fts5(words: Sequence[str]) -> str:
    return " ".join(f'"{word}"*' for word in words)


def _tsquery(words: Sequence[str]) -> str:
    return " & ".join(f"'{word}':*" for word in words)


def _has_word(edition: int, word: str) -> ColumnElement[bool]:
    """For SQLite, where FTS5 would read all matches of the word for each checked server."""
    words = select(_TEXT.c.words).where(_TEXT.c.rowid == (edition << 32) + LISTING_ORDER.c.place)
    spaced = literal(" ").concat(words.correlate(LISTING_ORDER).scalar_subquery())
    return func.instr(spaced, f" {word}") > 0


def _has_words(edition: int, words: Sequence[str]) -> ColumnElement[bool]:
    """For PostgreSQL; the limit prevents the planner from using a join."""
    of = (_TEXT.c.edition == edition, _TEXT.c.place == LISTING_ORDER.c.place)
    one = select(_TEXT.c.place).where(*of, _TEXT.c.words.op("@@")(cast(_tsquery(words), TSQUERY))).limit(1)
    return one.correlate(LISTING_ORDER).scalar_subquery().is_not(None)


def _is_at_places(connection: Connection, places: Sequence[int]) -> ColumnElement[bool]:
    place = LISTING_ORDER.c.place
    if connection.dialect.name == "sqlite":
        return place.in_(select(func.json_each(to_json(places)).table_valued("value").c.value))
    return place == any_(literal(places, ARRAY(Integer)))
