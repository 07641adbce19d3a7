"""A listing as values by place, so that two runs compare equal whatever the order of tools, pages and keys is."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct, field

from evidence.authority import classify_tools
from evidence.canonical import Json, Uncanonicalisable, canonical_json, sha256
from evidence.derive.poisoning.listing_texts import escape_segment, label_item
from evidence.kinds.drift import ApprovedTool
from evidence.kinds.listing import LISTS, End, Item, Listing

MAX_ENTRIES: Final = 20_000
"""Places of one listing that are compared. A listing with more places counts as incomplete."""

_COMPARED: Final = {
    "tools": ("title", "description", "annotations", "outputSchema"),
    "resources": ("name", "title", "description", "mimeType"),
    "resourceTemplates": ("name", "title", "description", "mimeType"),
    "prompts": ("title", "description", "arguments"),
}
"""Members that define an item. Sizes, times and `_meta` change between runs without a change of meaning."""
_HINTS: Final = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


class Outline(Struct, frozen=True, kw_only=True):
    """Values by place, authority and hints of each tool, and the lists that were read to their end."""

    values: Mapping[str, Json]
    tools: Mapping[str, ApprovedTool]
    whole: frozenset[str]
    cut: bool = False
    digests: Mapping[str, str] = field(default_factory=dict)


def outline_listing(listing: Listing) -> Outline:
    """The outline of a listing, with at most MAX_ENTRIES places."""
    values: dict[str, Json] = {}
    for at, value in _places(listing):
        if len(values) == MAX_ENTRIES:
            break
        values[escape_place(at)] = value
    whole = {name for name in LISTS if listing.list_of(name).end in {End.COMPLETE, End.NOT_ASKED}}
    return Outline(
        values=values,
        tools=_standings(listing),
        whole=frozenset({*whole, "server"}),
        cut=len(values) == MAX_ENTRIES,
        digests={at: digest_value(value) for at, value in values.items()},
    )


def escape_place(at: str) -> str:
    """A place that UTF-8 can encode: lone surrogates are escaped."""
    return at.encode("utf-8", "backslashreplace").decode()


def digest_value(value: Json) -> str:
    """The first 32 hexadecimal digits of the digest of the canonical form, or of another stable form of the value.

    With 16 an author could find an honest and a harmful text that have the same one.
    """
    try:
        form = canonical_json(value)
    except (Uncanonicalisable, RecursionError):
        form = json.dumps(value, sort_keys=True).encode()
    return sha256(form)[:32]


def digest_entries(entries: Mapping[str, str]) -> str:
    """The digest of a listing, computed from its places and their digests; their order does not matter."""
    return sha256(json.dumps(dict(entries), sort_keys=True).encode())


def _places(listing: Listing) -> Iterator[tuple[str, Json]]:
    if listing.instructions:
        yield "server/instructions", listing.instructions
    for member in ("name", "title", "version", "description", "websiteUrl"):
        if member in listing.server_info:
            yield f"server/{member}", listing.server_info[member]
    for name in LISTS:
        for at, item in _labelled(name, listing):
            yield at, True
            raw = item.raw if isinstance(item.raw, Mapping) else {}
            yield from ((f"{at}/{member}", raw[member]) for member in _COMPARED[name] if member in raw)
            if name == "tools":
                yield from _schema(f"{at}/inputSchema", raw.get("inputSchema"))


def _labelled(name: str, listing: Listing) -> Iterator[tuple[str, Item]]:
    """The items of a list with their places. Items with the same name are ordered by their content."""
    items = listing.list_of(name).items
    times = Counter(label_item(item) for item in items)
    alone = [item for item in items if times[label_item(item)] == 1]
    alike = sorted((item for item in items if times[label_item(item)] > 1), key=lambda item: digest_value(item.raw))
    seen: Counter[str] = Counter()
    for item in [*alone, *alike]:
        base = label_item(item)
        seen[base] += 1
        yield f"{name}/{base}" + (f"#{seen[base]}" if seen[base] > 1 else ""), item


def _schema(at: str, schema: Json) -> Iterator[tuple[str, Json]]:
    """The properties of a schema one by one, then the rest of the schema."""
    if not isinstance(schema, Mapping):
        return
    properties = schema.get("properties")
    known = properties if isinstance(properties, Mapping) else {}
    yield at, {key: value for key, value in schema.items() if key != "properties" or not known}
    for name, value in known.items():
        yield f"{at}/properties/{escape_segment(name)}", value


def _standings(listing: Listing) -> dict[str, ApprovedTool]:
    placed = list(_labelled("tools", listing))
    classes = classify_tools([item.raw for _, item in placed])
    return {
        escape_place(at): ApprovedTool(authority=found.authority.value, hints=_hints(item))
        for (at, item), found in zip(placed, classes, strict=True)
    }


def _hints(item: Item) -> dict[str, bool]:
    hints = item.get("annotations")
    known = hints if isinstance(hints, Mapping) else {}
    return {name: hint for name in _HINTS if isinstance(hint := known.get(name), bool)}
