"""The facets of servers as bits of one integer, by which lists are filtered; each edition has its own bits.

Filter groups would not do: facets are independent of each other, so that there would be a group for almost each server.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from evidence.store.listing.values import ListingQuery, ServerFacets

MAX_BITS: Final = 62
"""Distinct facets of an edition, whose bits fit a signed integer of 64 bits; further ones are not found."""

SINGLE_FACETS: Final = ("transport", "access", "read_only", "advisories")
"""The facets of which a server has one value, by their names in a query."""

_CATEGORY: Final = "category"


def list_facets(facets: ServerFacets) -> Iterator[str]:
    """The known facets of a server, such as `category:databases` and `access:open`."""
    yield from (f"{_CATEGORY}:{name}" for name in facets.categories)
    yield from (f"{name}:{value}" for name in SINGLE_FACETS if (value := getattr(facets, name)))


def add_bits(bits: dict[str, int], facets: ServerFacets) -> int:
    """The bits of a server's facets; `bits` numbers the facets of the edition, and new ones are added to it."""
    mask = 0
    for facet in list_facets(facets):
        if facet in bits or len(bits) < MAX_BITS:
            mask |= 1 << bits.setdefault(facet, len(bits))
    return mask


def find_wanted_bits(known: Sequence[str], query: ListingQuery) -> int | None:
    """The bits that a server must have, 0 if the query asks for no facet; None if no server has one of them.

    `known` are the facets of the edition in the order of their bits.
    """
    numbers: Mapping[str, int] = {facet: number for number, facet in enumerate(known)}
    mask = 0
    for name in (_CATEGORY, *SINGLE_FACETS):
        if (value := getattr(query, name)) is not None:
            if (number := numbers.get(f"{name}:{value}")) is None:
                return None
            mask |= 1 << number
    return mask
