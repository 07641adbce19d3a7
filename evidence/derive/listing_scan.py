"""Caches the poisoning scan of a listing: drift and the rules of all rubrics need the same hits."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

import orjson

from evidence.canonical import Json, sha256
from evidence.derive.poisoning import Hit, scan_listing
from evidence.kinds.listing import LISTS, Listing

CACHE_SIZE: Final = 30_000
"""Listings whose hits are cached: about one nightly run. Most have none; those with many are not cached."""
_FEW: Final = 50


def scan_listing_cached(listing: Listing) -> tuple[Hit, ...]:
    """The hits of `scan_listing`, cached by the content of the listing."""
    known = _known(digest) if (digest := _digest(listing)) else []
    if not known:
        found = scan_listing(listing)
        if len(found) > _FEW:
            return found
        known.append(found)
    return known[0]


def note_clean_listing(listing: Listing) -> None:
    """Cache that the scan of a listing, made elsewhere by the same code, found nothing."""
    if (digest := _digest(listing)) and not (known := _known(digest)):
        known.append(())


@lru_cache(CACHE_SIZE)
def _known(_digest: str) -> list[tuple[Hit, ...]]:
    """The cached hits of a listing in a list of one element; an empty list before the first scan."""
    return []


def _digest(listing: Listing) -> str:
    """A digest of the texts of a listing in their order; empty when they have no canonical form."""
    content: list[Json] = [listing.instructions, listing.server_info]
    content += [[item.raw for item in listing.list_of(name).items] for name in LISTS]
    try:
        return sha256(orjson.dumps(content))
    except orjson.JSONEncodeError:  # canonical JSON excludes large integers and lone surrogates
        return ""
