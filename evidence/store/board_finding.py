"""Which servers have words that begin so: those of rare ones by number, and a question to ask of each for common ones.

The database is told how, since it takes a join for quicker, which reads all of a list for every page of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Integer, Select, any_, func, literal, select
from sqlalchemy.dialects.postgresql import ARRAY

from evidence.store.board_models import BOARD_ORDER, BOARD_WORD
from evidence.store.board_words import after_all
from evidence.store.mapping import to_json

MANY: Final = 3_000
"""Servers that have a word which is common: a page of them is full before many others were looked at."""


@dataclass(frozen=True, slots=True)
class Found:
    """Places of the servers that have all rare words, None where there is no rare one; and the common words."""

    edition: int
    places: frozenset[int] | None
    common: Sequence[str]

    def conditions(self, connection: Connection) -> list[ColumnElement[bool]]:
        """What is true of a row of an order whose server has all of the words."""
        asked = [_has_word(self.edition, word) for word in self.common]
        return asked if self.places is None else [_is_among(connection, sorted(self.places)), *asked]


def find_words(connection: Connection, edition: int, words: Sequence[str]) -> Found:
    """Look for servers by the beginnings of words."""
    places: frozenset[int] | None = None
    common = []
    for word in words:
        found = list(connection.scalars(_with_word(edition, word).limit(MANY)))
        if len(found) == MANY:
            common.append(word)
        else:
            places = frozenset(found) if places is None else places & frozenset(found)
    return Found(edition, places, common)


def _is_among(connection: Connection, places: Sequence[int]) -> ColumnElement[bool]:
    place = BOARD_ORDER.c.place
    if connection.dialect.name == "sqlite":
        return place.in_(select(func.json_each(to_json(places)).table_valued("value").c.value))
    return place == any_(literal(places, ARRAY(Integer)))


def _has_word(edition: int, word: str) -> ColumnElement[bool]:
    """A limit keeps PostgreSQL from making a join of it."""
    one = _with_word(edition, word).where(BOARD_WORD.c.place == BOARD_ORDER.c.place).limit(1)
    return one.correlate(BOARD_ORDER).scalar_subquery().is_not(None)


def _with_word(edition: int, word: str) -> Select[Any]:
    of = BOARD_WORD.c
    return select(of.place).where(of.edition == edition, of.word >= word, of.word < after_all(word))
