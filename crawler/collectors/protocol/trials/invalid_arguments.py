"""Arguments that violate a tool's input schema on purpose: one of a wrong type, or a required one left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from crawler.collectors.protocol.trials import schema_validation
from crawler.collectors.protocol.trials.schema_flattening import SchemaFlattener, SchemaNotFlattened
from evidence.canonical import Json

# Values that no server converts to the declared type, not even one that parses numbers in texts.
_WRONG: Final[Mapping[str, Json]] = {
    "string": {"hallmark": "invalid"},
    "integer": "not-a-number",
    "number": "not-a-number",
    "boolean": "not-a-boolean",
    "array": "not-an-array",
    "object": "not-an-object",
}


class InvalidArguments(Struct, frozen=True):
    """Arguments with one mistake, and the parameter that has it."""

    parameter: str
    arguments: Mapping[str, Json]


def make_wrong_type_arguments(schema: Json, arguments: Mapping[str, Json]) -> InvalidArguments | None:
    """The arguments with a wrong type for the first required parameter of one plain type; None without such a
    parameter.
    """
    for name, part in _required(schema, arguments):
        named = part.get("type")
        value = _WRONG.get(named) if isinstance(named, str) else None
        if value is not None and _breaks(schema, mistaken := {**arguments, name: value}):
            return InvalidArguments(name, mistaken)
    return None


def make_incomplete_arguments(schema: Json, arguments: Mapping[str, Json]) -> InvalidArguments | None:
    """The arguments without the first required parameter that has no default; None when there is none."""
    for name, part in _required(schema, arguments):
        left = {key: value for key, value in arguments.items() if key != name}
        if "default" not in part and _breaks(schema, left):
            return InvalidArguments(name, left)
    return None


def _required(schema: Json, arguments: Mapping[str, Json]) -> Iterator[tuple[str, Mapping[str, Json]]]:
    if not isinstance(schema, Mapping):
        return
    flattener = SchemaFlattener(schema, 0)
    try:
        flat = flattener.flatten(schema)
        properties = flat.get("properties")
        required = flat.get("required")
        for name in required if isinstance(required, list) else ():
            if isinstance(name, str) and name in arguments and isinstance(properties, Mapping) and name in properties:
                yield name, flattener.flatten(properties[name])
    except (SchemaNotFlattened, schema_validation.SchemaNotDecidable):
        return


def _breaks(schema: Json, arguments: Mapping[str, Json]) -> bool:
    try:
        return schema_validation.find_violation(schema, arguments) is not None
    except schema_validation.SchemaNotDecidable:
        return False
