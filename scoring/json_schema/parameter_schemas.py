"""The parts of an input schema that describe values: parameters, nested schemas and branches of unions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from msgspec import Struct

from evidence.canonical import Json
from scoring.text.evidence_path import clip_text

_UNIONS: Final = ("anyOf", "oneOf", "allOf")
_INHERITED: Final = (
    "additionalProperties",
    "const",
    "default",
    "description",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "maxItems",
    "maxLength",
    "maximum",
    "minimum",
    "pattern",
)
_LEADING: Final = frozenset({*_UNIONS, "$ref", "properties", "items"})
"""Keywords by which a schema may contain further value schemas."""

_REFERENCES_IN_A_ROW: Final = 16


class ValueSchema(Struct, frozen=True):
    """A schema that describes a value. `suffix` is its path from the parameter, empty for the parameter itself."""

    name: str
    schema: Mapping[str, Json]
    types: frozenset[str]
    suffix: str = ""


def list_value_schemas(root: Mapping[str, Json], properties: Mapping[str, Json]) -> dict[str, tuple[ValueSchema, ...]]:
    """The places of every parameter, the parameter itself first.

    What is inside a part of the schema counts once, where the part is first met: linear, and no circle is endless.
    """
    seen: dict[int, Mapping[str, Json]] = {id(root): root}
    return {name: _of(name, schema, root, seen) for name, schema in properties.items() if isinstance(schema, dict)}


def list_suffixes(places: tuple[ValueSchema, ...], wrong: Callable[[ValueSchema], bool]) -> list[str]:
    """The distinct suffixes of the places for which `wrong` holds; branches of a union share one suffix."""
    if len(places) == 1:
        return [places[0].suffix] if wrong(places[0]) else []
    found = [place.suffix for place in places if wrong(place)]
    return list(dict.fromkeys(found)) if len(found) > 1 else found


def _of(
    name: str, schema: Mapping[str, Json], root: Mapping[str, Json], seen: dict[int, Mapping[str, Json]]
) -> tuple[ValueSchema, ...]:
    """The value schemas of one parameter; most parameters have no nested schema and no reference."""
    if not _LEADING.isdisjoint(schema):
        return tuple(_walk(ValueSchema(name, schema, frozenset()), root, seen))
    seen[id(schema)] = schema
    return (ValueSchema(name, schema, _types(schema)),)


def _walk(first: ValueSchema, root: Mapping[str, Json], seen: dict[int, Mapping[str, Json]]) -> Iterator[ValueSchema]:
    waiting = [first]
    while waiting:
        place = waiting.pop()
        schema = _resolved(place.schema, root)
        met = id(schema) in seen and schema is not first.schema
        if met and place is not first:
            continue
        seen[id(schema)] = schema
        merged = _with_own(place.schema, schema)
        found = ValueSchema(place.name, merged, _types(merged), place.suffix)
        yield found
        if not met:
            waiting.extend(reversed(list(_inside(found, schema))))


def _inside(place: ValueSchema, schema: Mapping[str, Json]) -> Iterator[ValueSchema]:
    branches = [part for union in _UNIONS if isinstance(members := schema.get(union), list) for part in members]
    inherited = _own(place.schema) if branches else {}
    for branch in branches:
        if isinstance(branch, dict):
            yield ValueSchema(place.name, {**inherited, **branch} if inherited else branch, frozenset(), place.suffix)
    properties = schema.get("properties")
    for name, value in properties.items() if isinstance(properties, dict) else ():
        if isinstance(value, dict):
            yield ValueSchema(name, value, frozenset(), _joined(place.suffix, name))
    items = schema.get("items")
    if isinstance(items, dict):
        yield ValueSchema(place.name, items, frozenset(), _joined(place.suffix, "items"))


def _resolved(schema: Mapping[str, Json], root: Mapping[str, Json]) -> Mapping[str, Json]:
    """The target of a chain of local references; the schema itself without a reference."""
    for _ in range(_REFERENCES_IN_A_ROW):
        reference = schema.get("$ref")
        target = _pointed(reference, root) if isinstance(reference, str) else None
        if target is None:
            return schema
        schema = target
    return schema


def _pointed(reference: str, root: Mapping[str, Json]) -> Mapping[str, Json] | None:
    if not reference.startswith("#/"):
        return None
    value: Json = root
    for part in reference[2:].split("/"):
        if not isinstance(value, dict):
            return None
        value = value.get(part.replace("~1", "/").replace("~0", "~"))
    return value if isinstance(value, dict) else None


def _with_own(written: Mapping[str, Json], resolved: Mapping[str, Json]) -> Mapping[str, Json]:
    """The schema with the bounds next to its reference and in the members of its allOf."""
    own = _own(written) if written is not resolved else {}
    members = resolved.get("allOf")
    for member in members if isinstance(members, list) else ():
        if isinstance(member, dict):
            own |= _own(member)
    return {**own, **resolved} if own else resolved


def _own(schema: Mapping[str, Json]) -> dict[str, Json]:
    """The members that also hold for what is nested in a schema, or for what it refers to."""
    return {keyword: schema[keyword] for keyword in _INHERITED if keyword in schema}


def _types(schema: Mapping[str, Json]) -> frozenset[str]:
    kind = schema.get("type")
    if isinstance(kind, list):
        return frozenset(item for item in kind if isinstance(item, str))
    return frozenset([kind]) if isinstance(kind, str) else frozenset()


def _joined(suffix: str, name: str) -> str:
    return clip_text(f"{suffix}.{name}" if suffix else name)
