"""Words for the search: of names and references, and of queries."""

from __future__ import annotations

import re
from typing import Final
from unicodedata import normalize

MAX_WORD_LENGTH: Final = 40
"""Characters of a word that are kept, in names and in queries."""

MAX_WORDS: Final = 40
"""Words kept for one server, so that a name of a million words costs no more than one of forty."""

MAX_SEARCH_WORDS: Final = 8
"""Words of a query that are used."""

_READ: Final = 2_000
"""Characters of a name or reference that are split into words."""

_WORD: Final = re.compile(r"[^\W_]+")
_ENDS: Final = "\U0010ffff"


def split_words(*texts: str) -> tuple[str, ...]:
    """The first MAX_WORDS distinct words of some texts, in their order, case-folded."""
    return _words(MAX_WORDS, texts)


def parse_search_words(text: str) -> tuple[str, ...]:
    """The word prefixes of a query, without those that are a prefix of another one."""
    found = _words(MAX_SEARCH_WORDS, [text])
    return tuple(word for word in found if not any(other != word and other.startswith(word) for other in found))


def prefix_upper_bound(beginning: str) -> str:
    """A text that sorts after every word with this prefix, by code point."""
    return beginning + _ENDS


def _words(most: int, texts: tuple[str, ...] | list[str]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for text in texts:
        for match in _WORD.finditer(normalize("NFKC", text[:_READ]).casefold()):
            found[match[0][:MAX_WORD_LENGTH]] = None
            if len(found) == most:
                return tuple(found)
    return tuple(found)
