"""All strings of a listing that a client may show to a model, with their places."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

from evidence.canonical import Json
from evidence.kinds.listing import LISTS, Item, Listing

MAX_STRINGS: Final = 20_000
MAX_DEPTH: Final = 64

TextPlace: TypeAlias = "tuple[TextPlace | None, str]"
"""The parent place and the last segment. The full path is only built for a hit."""

ListingText: TypeAlias = tuple[TextPlace, str, str]
"""A place, the name of the tool that contains the text, and the text."""


def iterate_texts(listing: Listing) -> Iterator[ListingText]:
    """The texts of the server, then of each item of its lists, breadth first and within bounds."""
    yield from (((None, "server/instructions"), "", listing.instructions),) if listing.instructions else ()
    for member, value in listing.server_info.items():
        yield from _strings((None, f"server/{member}"), "", value)
    for name in LISTS:
        for item in listing.list_of(name).items:
            owner = item.name if name == "tools" else ""
            yield from _strings((None, f"{name}/{label_item(item)}"), owner, item.raw)


def format_path(place: TextPlace) -> str:
    """The place as a path. The segments of names and keys are escaped."""
    around, last = place
    return last if around is None else f"{format_path(around)}/{escape_segment(last)}"


def describes_parameter(place: TextPlace) -> bool:
    """Whether the text describes a parameter of a tool."""
    return place[1] in ("description", "title") and _is_in_schema(place)


def describes_tool(place: TextPlace) -> bool:
    """Whether the text is the description of an item of a list, such as a tool."""
    around, last = place
    return last == "description" and around is not None and around[0] is None


def _is_in_schema(place: TextPlace) -> bool:
    around, last = place
    return around is not None and (last == "inputSchema" or _is_in_schema(around))


def label_item(item: Item) -> str:
    """The path segment of an item: its name, its URI, or its number."""
    return escape_segment(item.name or item.text("uri") or f"@{item.index}")


def escape_segment(text: str) -> str:
    return text[:80].replace("~", "~0").replace("/", "~1").replace("@", "~2")


def _strings(place: TextPlace, owner: str, value: Json) -> list[ListingText]:
    """Strings and keys of a value, breadth first and within bounds."""
    found: list[ListingText] = []
    level: list[tuple[TextPlace, Json]] = [(place, value)]
    left = MAX_STRINGS
    for _ in range(MAX_DEPTH):
        following: list[tuple[TextPlace, Json]] = []
        for here, part in level[:left]:
            if isinstance(part, str):
                found.append((here, owner, part))
            elif isinstance(part, dict):
                for key, inner in part.items():
                    if len(key) > 24 or not key.isascii():
                        found.append((here, owner, key))
                    following.append(((here, key), inner))
            elif isinstance(part, list):
                following += [(here, inner) for inner in part]
        left -= len(level)
        if left <= 0 or not following:
            break
        level = following
    return found
