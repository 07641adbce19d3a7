"""Reads a whole edition of the board into memory: for processes that are asked for lists all day."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from sys import intern
from typing import Any, Final

from sqlalchemy import Connection, Row, Select, select

from evidence.store.board_index import UNSCORED, BoardIndex, Order, Rows, Verdicts, Words
from evidence.store.board_models import BOARD_ORDER, BOARD_SERVER, BOARD_WORD
from evidence.store.board_reading import Edition
from evidence.store.board_shown import shown_edition
from evidence.store.models import SERVER

_BATCH: Final = 2_000


def load_edition(connection: Connection, edition: Edition) -> BoardIndex | None:
    """An edition with all of its servers; None when it is not shown any more: it may be dropped while it is read."""
    ids: list[str] = []
    rows = Rows()
    keys, kinds = array("i"), array("i")
    known: dict[Any, Any] = {}
    for row in _read(connection, _servers(edition.key)):
        ids.append(row.id)
        keys.append(row.server_key)
        kinds.append(row.kind)
        rows.refs.append(row.ref)
        rows.names.append(row.name)
        rows.targets.append(row.targets)
        rows.repositories.append(row.repository)
        rows.seen.append(row.seen)
        # What many have is kept once: registries, and bodies of those of whom nothing could be seen.
        rows.registries.append(known.setdefault(row.seen_in, row.seen_in))
        rows.bodies.append(known.setdefault(row.body, row.body))
    orders, verdicts = {}, {}
    for sort, found in groupby(_read(connection, _orders(edition.key)), key=itemgetter(0)):
        orders[sort], verdicts[sort] = _order(found, edition.servers)
    words = _words(_read(connection, _words_of(edition.key)))
    if shown_edition(connection) != edition.key:
        return None
    return BoardIndex(edition, ids, keys, kinds, rows, orders, verdicts, words)


def _read(connection: Connection, query: Select[Any]) -> Iterator[Row[Any]]:
    return iter(connection.execute(query, execution_options={"yield_per": _BATCH}))


def _servers(edition: int) -> Select[Any]:
    server, of = SERVER.c, BOARD_SERVER.c
    columns = (server.id, server.ref, server.name, server.targets, server.repository, server.seen_in)
    query = select(*columns, of.server_key, of.kind, of.seen, of.body).join(BOARD_SERVER, of.server_key == server.key)
    return query.where(of.edition == edition).order_by(of.place)


def _orders(edition: int) -> Select[Any]:
    of = BOARD_ORDER.c
    query = select(of.sort, of.place, of.rank, of.grade, of.score).where(of.edition == edition)
    return query.order_by(of.sort, of.rank, of.place)


def _words_of(edition: int) -> Select[Any]:
    of = BOARD_WORD.c
    return select(of.word, of.place).where(of.edition == edition).order_by(of.word, of.place)


def _order(rows: Iterable[Sequence[Any]], servers: int) -> tuple[Order, Verdicts]:
    places, ranks = array("i"), array("q")
    positions, scores = array("i", bytes(4 * servers)), array("i", bytes(4 * servers))
    grades: list[str | None] = [None] * servers
    for position, (_, place, rank, grade, score) in enumerate(rows):
        places.append(place)
        ranks.append(rank)
        positions[place] = position
        grades[place] = grade and intern(grade)
        scores[place] = UNSCORED if score is None else score
    return Order(places, ranks, positions), Verdicts(grades, scores)


def _words(rows: Iterable[Sequence[Any]]) -> Words:
    words: list[str] = []
    starts, places = array("i"), array("i")
    for word, found in groupby(rows, key=itemgetter(0)):
        words.append(word)
        starts.append(len(places))
        places.extend(map(itemgetter(1), found))
    starts.append(len(places))
    return Words(words, starts, places)
