"""Splits texts into words and names into tokens, for lookups in vocabularies."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_WORD: Final = re.compile(r"\w+", re.ASCII)
_TOKEN: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_REMEMBERED: Final = 64
_LITTLE: Final = 160
_SEGMENT: Final = re.compile(r"[A-Za-z0-9]+")


def parse_word_list(text: str) -> frozenset[str]:
    return frozenset(text.split())


def split_words(text: str) -> frozenset[str]:
    r"""Maximal runs of ASCII letters, digits and `_` in lower case: what `\bword\b` can match in JavaScript."""
    return _words_of_little(text) if len(text) <= _LITTLE else _words(text)


def split_tokens(name: str) -> tuple[str, ...]:
    """The parts of a name split at punctuation, digits and capitals, in lower case: userID2_x is user, id, 2, x."""
    return _short_tokens(name) if len(name) <= _REMEMBERED else _tokens(name)


def split_segments(name: str) -> tuple[str, ...]:
    """The parts of a name split at punctuation, in lower case: k8s-podIP is k8s, podip."""
    return tuple(segment.lower() for segment in _SEGMENT.findall(name))


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))


def _tokens(name: str) -> tuple[str, ...]:
    return tuple(token.lower() for token in _TOKEN.findall(name))


_short_tokens = lru_cache(maxsize=4096)(_tokens)
"""Cached for names of usual length, which several rules and many servers share."""

_words_of_little = lru_cache(maxsize=1024)(_words)
"""Cached for names and short descriptions, of which the tools of one server share many."""
