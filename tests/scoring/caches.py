"""Empties the caches of a process that scores, so that it scores servers as if for the first time."""

from __future__ import annotations

import sys
from functools import lru_cache

_Cache = type(lru_cache(repr))
_LARGE = 1_000


def clear_caches() -> None:
    """Empty the caches of texts, tools and listings.

    Smaller and unbounded caches hold declarations and compiled patterns, which a process makes once.
    """
    for name in [name for name in sys.modules if name.startswith(("evidence.", "scoring."))]:
        for value in vars(sys.modules[name]).values():
            if isinstance(value, _Cache) and (value.cache_parameters()["maxsize"] or 0) >= _LARGE:
                value.cache_clear()
