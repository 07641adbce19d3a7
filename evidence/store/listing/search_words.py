"""Words of the search: those of names and references, and those of a query."""

from __future__ import annotations

import re
from typing import Final
from unicodedata import normalize

MAX_WORD_LENGTH: Final = 40
"""Characters of a word that are kept; what is looked for is cut alike."""

MAX_WORDS: Final = 40
"""Words kept of one server, so that a name of a million of them costs no more than one of forty."""

MAX_SEARCH_WORDS: Final = 8
"""Words of a question that are heeded."""

_READ: Final = 2_000
"""Characters of a name or reference in which words are looked for."""

_WORD: Final = re.compile(r"[^\W_]+")
_ENDS: Final = "\U0010ffff"


def split_words(*texts: str) -> tuple[str, ...]:
    """The distinct words of some texts, in their order, without case; not every one of texts without end."""
    return _words(MAX_WORDS, texts)


def parse_search_words(text: str) -> tuple[str, ...]:
    """The beginnings of words that a question is about; none are left of what begins another one."""
    found = _words(MAX_SEARCH_WORDS, [text])
    return tuple(word for word in found if not any(other != word and other.startswith(word) for other in found))


def prefix_upper_bound(beginning: str) -> str:
    """Comes after every word with this beginning, by code point."""
    return beginning + _ENDS


def _words(most: int, texts: tuple[str, ...] | list[str]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for text in texts:
        for match in _WORD.finditer(normalize("NFKC", text[:_READ]).casefold()):
            found[match[0][:MAX_WORD_LENGTH]] = None
            if len(found) == most:
                return tuple(found)
    return tuple(found)
