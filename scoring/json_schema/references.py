"""Resolves addresses of schemas: `$id`, `$ref` and JSON pointers. Nothing is fetched."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from evidence.canonical import Json
from scoring.text.words import parse_word_list

_PARTS: Final = re.compile(r"(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?://([^/?#]*))?([^?#]*)(?:\?[^#]*)?")
_PERCENT: Final = re.compile(rb"%([0-9A-Fa-f]{2})")
_HIDDEN: Final = parse_word_list(
    """
    default enum const required maximum minimum exclusiveMaximum exclusiveMinimum multipleOf maxLength minLength pattern
    format maxItems minItems uniqueItems maxProperties minProperties
    """
)
"""Keywords whose values are data, never schemas."""

_LISTS: Final = parse_word_list("items allOf anyOf oneOf prefixItems")
_MAPS: Final = parse_word_list("$defs definitions properties patternProperties dependencies dependentSchemas")


def strip_empty_fragment(address: str) -> str:
    return address.removesuffix("/").removesuffix("#") if address.endswith(("#", "#/")) else address


def resolve_reference(base: str, reference: str) -> str:
    """Resolve a reference against a base address."""
    if not base or reference.startswith("#"):
        return base.partition("#")[0] + reference
    scheme, host, path = _split(reference)
    if scheme:
        return reference
    own_scheme, own_host, own_path = _split(base)
    root = f"{own_scheme}:" if own_scheme else ""
    if host is not None:
        return root + reference
    root += f"//{own_host}" if own_host is not None else ""
    if path.startswith("/") or not path:
        return root + (reference if path else own_path + reference)
    return root + _without_dots(own_path.rpartition("/")[0] + "/" + path) + reference[len(path) :]


def resolve_pointer(schema: Json, pointer: str) -> Json:
    """The value at a JSON pointer; raise LookupError when there is none."""
    for part in pointer.split("/")[1:]:
        name = _decoded(part).replace("~1", "/").replace("~0", "~")
        if isinstance(schema, dict):
            schema = schema[name]
        elif isinstance(schema, list) and name.isdecimal() and len(name) < 10:
            schema = schema[int(name)]
        else:
            raise LookupError(name)
    return schema


def iterate_schemas(schema: Mapping[str, Json]) -> Iterator[tuple[Mapping[str, Json], str | None, int]]:
    """Every object that may be a schema, outermost first, with its `$id` and the id() of its parent."""
    waiting: list[tuple[Mapping[str, Json], int]] = [(schema, 0)]
    while waiting:
        part, outer = waiting.pop()
        named = part.get("$id")
        yield part, named if isinstance(named, str) else None, outer
        for keyword, value in part.items():
            if keyword in _HIDDEN:
                continue
            inner: Iterable[Json]
            if isinstance(value, dict):
                inner = value.values() if keyword in _MAPS else (value,)
            else:
                inner = value if keyword in _LISTS and isinstance(value, list) else ()
            waiting.extend((member, id(part)) for member in inner if isinstance(member, dict))


def _split(address: str) -> tuple[str | None, str | None, str]:
    found = _PARTS.match(address)
    return (found[1], found[2], found[3]) if found else (None, None, address)


def _without_dots(path: str) -> str:
    kept: list[str] = []
    for part in path.split("/"):
        if part == "..":
            kept = kept[:-1] if len(kept) > 1 else kept
        elif part != ".":
            kept.append(part)
    return "/".join(kept)


def _decoded(part: str) -> str:
    if "%" not in part:
        return part
    return _PERCENT.sub(lambda found: bytes.fromhex(found[1].decode()), part.encode("utf-8", "replace")).decode(
        "utf-8", "replace"
    )
