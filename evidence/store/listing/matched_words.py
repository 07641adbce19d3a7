"""The words by which a search found servers: for each term of the query, those of a server's texts that match it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from msgspec import Struct
from sqlalchemy import Connection, select

from evidence.model import ServerId
from evidence.store.listing.search_words import (
    TEXT_FIELDS,
    SearchTerm,
    ServerWords,
    TextField,
    parse_search_terms,
    stem_word,
)
from evidence.store.listing.word_search import read_words
from evidence.store.tables.core import SERVER
from evidence.store.tables.listing import LISTING_SERVER

MAX_MATCHES: Final = 3
"""Words of one field that are named for one term."""


class MatchedWords(Struct, frozen=True):
    """The words of one field that match a term of a query."""

    term: str
    field: TextField
    words: tuple[str, ...]


def read_matches(
    connection: Connection, edition: int, text: str, servers: Sequence[ServerId]
) -> dict[ServerId, tuple[MatchedWords, ...]]:
    """The matches of a query by server, in the order of its terms."""
    terms = parse_search_terms(text)
    if not terms or not servers:
        return {}
    places = select(SERVER.c.id, LISTING_SERVER.c.place).join(
        LISTING_SERVER, LISTING_SERVER.c.server_key == SERVER.c.key
    )
    found = connection.execute(places.where(LISTING_SERVER.c.edition == edition, SERVER.c.id.in_(servers)))
    at: dict[ServerId, int] = {row.id: row.place for row in found}
    words = read_words(connection, edition, at.values())
    return {server: tuple(match_words(terms, words[place])) for server, place in at.items() if place in words}


def match_words(terms: Iterable[SearchTerm], words: ServerWords) -> Iterator[MatchedWords]:
    """The words of each field that match each term."""
    for term in terms:
        for field in TEXT_FIELDS:
            if matched := tuple(_matching(term, getattr(words, field)))[:MAX_MATCHES]:
                yield MatchedWords(term.word, field, matched)


def _matching(term: SearchTerm, words: Sequence[str]) -> list[str]:
    """The words that match, those equal to the term first; a word is not repeated as its own stem."""
    found = [word for word in words if term.is_in((word,)) or (term.stem and stem_word(word) == term.stem)]
    stems = {stem for word in found if (stem := stem_word(word)) != word}
    return sorted((word for word in found if word not in stems), key=lambda word: word != term.word)
