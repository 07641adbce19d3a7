"""Finds words that state a change in names and texts of tools."""

from __future__ import annotations

import re
from typing import Final

from evidence.authority import ADMIN_VERBS, DESTROY_VERBS, UNAMBIGUOUS_ACTION_VERBS, WRITE_VERBS

_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_DESTRUCTIVE_VERBS: Final = DESTROY_VERBS | ADMIN_VERBS
_STEMS: Final = tuple(sorted(verb for verb in DESTROY_VERBS | {"execute", "shutdown"} if len(verb) >= 5))


def mentions_change(text: str) -> bool:
    """True when a word of the text changes or undoes something."""
    return mentions_destruction(text) or not UNAMBIGUOUS_ACTION_VERBS.isdisjoint(_words(text))


def mentions_destruction(text: str) -> bool:
    """True when a word of the text undoes something or runs its input, in any case and joined to others."""
    joined = re.sub(r"[^a-z]", "", text.lower())
    return not _DESTRUCTIVE_VERBS.isdisjoint(_words(text)) or any(stem in joined for stem in _STEMS)


def may_mention_change(text: str) -> bool:
    """True when a word of the text may be a verb of changing something, as `open` may."""
    return mentions_change(text) or not WRITE_VERBS.isdisjoint(_words(text))


def _words(text: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(text)}
