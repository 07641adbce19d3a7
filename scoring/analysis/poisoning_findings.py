"""The message of a finding about a poisoned text, by which the hit behind it is recognised."""

from __future__ import annotations

from evidence.derive.listing_scan import scan_listing_cached
from evidence.derive.poisoning import Hit
from evidence.kinds import listing
from evidence.model import Dossier


def describe_hit(hit: Hit) -> str:
    """Place and category; the text itself is never repeated."""
    return f"{hit.at}: {hit.title.lower()}"


def list_messages(dossier: Dossier, *, certain: bool) -> frozenset[str]:
    """The messages of the grave hits in the listing that are certain, or of the others."""
    seen = dossier.parsed(listing.KIND, listing.Listing.parse)
    hits = scan_listing_cached(seen) if seen is not None else ()
    return frozenset(describe_hit(hit) for hit in hits if hit.is_grave and hit.is_certain is certain)
