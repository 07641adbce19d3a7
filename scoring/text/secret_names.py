"""Recognises names of secrets by whole words, so that MAX_TOKENS, KEYBOARD and author do not match."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise
from typing import Final

from scoring.text.words import parse_word_list

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_REMEMBERED: Final = 64
_SECRET: Final = parse_word_list(
    """
    accesskey apikey apitoken authtoken authorization bearer credential credentials passphrase passwd password pat
    privatekey secret secretkey secrets token
    """
)
_SECRET_PAIRS: Final = frozenset({"access key", "api key", "auth key", "private key", "secret key", "signing key"})
_NOT_SECRET_BEFORE_TOKEN: Final = frozenset({"max", "min", "page", "next", "sync", "public", "count", "num"})
_NOT_SECRET_AFTER: Final = frozenset(["count", "endpoint", "file", "id", "limit", "name", "path", "type", "uri", "url"])


def is_secret_name(name: str) -> bool:
    """Whether the words of a name (split at punctuation, digits and capitals) name a secret, not a fact about one."""
    return _is_short_secret(name) if len(name) <= _REMEMBERED else _is_secret(name)


def _is_secret(name: str) -> bool:
    words = [word.lower() for word in _WORD.findall(name)]
    if not words or words[-1] in _NOT_SECRET_AFTER:
        return False
    if any(f"{first} {second}" in _SECRET_PAIRS for first, second in pairwise(words)):
        return True
    return any(
        word in _SECRET and not (word == "token" and set(words[:at]) & _NOT_SECRET_BEFORE_TOKEN)
        for at, word in enumerate(words)
    )


_is_short_secret = lru_cache(maxsize=4096)(_is_secret)
"""Cached for names of usual length, which several rules and many servers share."""
