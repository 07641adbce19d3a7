"""The signs of poisoning in a listing, looked for once: drift and the rules of every rubric ask for the same ones."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import orjson

from evidence.canonical import Json, sha256
from evidence.derive.poisoning import Hit, scan_listing
from evidence.kinds.listing import LISTS, Listing

CACHE_SIZE: Final = 30_000
"""Listings of which the signs are kept: a night's. Most have none; of one with many they are looked for again."""
_FEW: Final = 50


def scan_listing_cached(listing: Listing) -> tuple[Hit, ...]:
    """What `scan` finds in a listing, remembered by all that it says."""
    known = _known(digest) if (digest := _digest(listing)) else []
    if not known:
        found = scan_listing(listing)
        if len(found) > _FEW:
            return found
        known.append(found)
    return known[0]


@lru_cache(CACHE_SIZE)
def _known(_digest: str) -> list[tuple[Hit, ...]]:
    """Cached hits of a listing; empty until the first scan."""
    return []


def _digest(listing: Listing) -> str:
    """What tells listings apart that say different things, or in another order; empty where it cannot be told."""
    said: list[Json] = [listing.instructions, listing.server_info]
    said += [[item.raw for item in listing.list_of(name).items] for name in LISTS]
    try:
        return sha256(orjson.dumps(said))
    except orjson.JSONEncodeError:  # an integer or a lone surrogate that it does not write
        return ""
