"""Words for the search: of the texts of listed servers, and of queries.

Words are case-folded and stored with their English stems (Snowball), so that "queries" finds "query" on each database.
Limits keep a text that is stuffed with words from matching more queries than an honest one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import zip_longest
from typing import Final, Literal, TypeAlias
from unicodedata import normalize

import snowballstemmer
from msgspec import Struct

from evidence.store.listing.quality_words import QUALITIES

MIN_STEM: Final = 3
"""Characters of a stem that is searched for; a shorter one, such as `io` of `ios`, is another word."""

MAX_WORD_LENGTH: Final = 40
"""Characters of a word that are kept, in texts and in queries."""

MAX_NAME_WORDS: Final = 40
MAX_PURPOSE_WORDS: Final = 30
MAX_TOOL_WORDS: Final = 200
MAX_README_WORDS: Final = 100
"""Distinct words of the names, the purpose, the tools and the README of one server that are kept."""

TextField: TypeAlias = Literal["name", "purpose", "tools", "readme"]
TEXT_FIELDS: Final[tuple[TextField, ...]] = ("name", "purpose", "tools", "readme")
"""The texts of a server that the search reads, the most telling first."""

MAX_SEARCH_WORDS: Final = 8
"""Words of a query that are used."""

_READ: Final = 2_000
"""Characters of one text that are split into words."""

_WORD: Final = re.compile(r"[^\W_]+")
_CASES: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_ENDS: Final = "\U0010ffff"
_IGNORED: Final = frozenset(
    {"a", "an", "and", "any", "are", "as", "at", "be", "by", "can", "for", "from", "has", "have", "i", "in", "into"}
    | {"is", "it", "its", "me", "my", "need", "of", "on", "one", "or", "our", "please", "server", "servers", "some"}
    | {"something", "that", "the", "their", "them", "this", "to", "tool", "tools", "use", "want", "we", "what"}
    | {"which", "with", "you", "your"}
)
"""Words of a query that say nothing about a purpose; alone, they are searched for."""

_SHORT_FORMS: Final = {"mongodb": "mongo", "postgresql": "postgres"}
"""Words of a query for which texts use a shorter name with which the word begins."""

_WELL: Final = "well"
_STEMMER: Final = snowballstemmer.stemmer("english")


class SearchTerm(Struct, frozen=True):
    """A word of a query. It matches words that begin with it, and the word that is its stem (if not empty)."""

    word: str
    stem: str = ""

    def is_in(self, words: Iterable[str]) -> bool:
        return any(word == self.stem or word.startswith(self.word) for word in words)


class ServerWords(Struct, frozen=True):
    """The words and stems of one server by field, each distinct and in the order of the texts."""

    name: tuple[str, ...]
    purpose: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    readme: tuple[str, ...] = ()


def split_server_words(
    names: Iterable[str], purpose: str, tools: Iterable[str], readme: Iterable[str] = ()
) -> ServerWords:
    """The words of the name and reference, of the purpose, of the texts of tools, and of parts of the README."""
    return ServerWords(
        tuple(_split(names, MAX_NAME_WORDS)),
        tuple(_split([purpose], MAX_PURPOSE_WORDS)),
        tuple(_split(tools, MAX_TOOL_WORDS)),
        tuple(_split(readme, MAX_README_WORDS)),
    )


def split_query(text: str) -> list[str]:
    """The distinct words of a query, without the first part of words such as "well-documented"."""
    words = list(split_words([text], parts=False))
    pairs = zip_longest(words, words[1:])
    return list(dict.fromkeys(word for word, after in pairs if word != _WELL or after not in QUALITIES))


def parse_search_terms(text: str) -> tuple[SearchTerm, ...]:
    """The terms of a query, without words that another word of it begins with, and without those of a quality."""
    found = split_query(text)
    words = [word for word in found if word not in _IGNORED and word not in QUALITIES]
    words = (words or [word for word in found if word not in _IGNORED] or found)[:MAX_SEARCH_WORDS]
    kept = (word for word in words if not any(other != word and other.startswith(word) for other in words))
    return tuple(map(_make_term, kept))


def _make_term(word: str) -> SearchTerm:
    if word in _SHORT_FORMS:
        return SearchTerm(_SHORT_FORMS[word], word)
    return SearchTerm(word, stem if len(stem := stem_word(word)) >= MIN_STEM else "")


def prefix_upper_bound(beginning: str) -> str:
    """A text that sorts after every word with this prefix, by code point."""
    return beginning + _ENDS


def split_words(texts: Iterable[str], *, parts: bool = True) -> Iterator[str]:
    """The case-folded words in their order; with `parts` a name in camelCase is followed by its parts."""
    for text in texts:
        read = text[:_READ]
        if read.isascii() and not (parts and _CASES.search(read)):  # most texts, in a fraction of the time
            yield from (word[:MAX_WORD_LENGTH] for word in _WORD.findall(read.lower()))
            continue
        for whole in _WORD.findall(normalize("NFKC", read)):
            found = _CASES.split(whole) if parts and not whole.islower() else []
            for word in (whole, *found) if len(found) > 1 else (whole,):
                yield word.casefold()[:MAX_WORD_LENGTH]


def list_distinct_words(texts: Iterable[str], most: int) -> list[str]:
    """The first `most` distinct words of `split_words`; texts after them are not read."""
    found: dict[str, None] = {}
    for word in split_words(texts):
        found[word] = None
        if len(found) == most:
            break
    return list(found)


def _split(texts: Iterable[str], most: int) -> Iterator[str]:
    """The first `most` distinct words, each followed by its stem if that is another word."""
    return iter(dict.fromkeys(form for word in list_distinct_words(texts, most) for form in (word, stem_word(word))))


@lru_cache(65_536)
def stem_word(word: str) -> str:
    """The stem of a word; cached, since the stemmer takes 20 µs and the vocabulary of all servers is small."""
    stem: str = _STEMMER.stemWord(word)
    return stem
