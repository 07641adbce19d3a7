"""Lists all subschemas of a JSON Schema without following references and without reading data as schemas."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct

from evidence.canonical import Json
from scoring.json_schema.dialects import MAX_DEPTH
from scoring.text.words import parse_word_list

_ONE: Final = parse_word_list(
    """
    additionalItems additionalProperties contains contentSchema else if items not propertyNames then unevaluatedItems
    unevaluatedProperties
    """
)
_SEVERAL: Final = frozenset({"allOf", "anyOf", "oneOf", "prefixItems", "items"})
_NAMED: Final = frozenset(
    {"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"}
)


class Subschema(Struct, frozen=True):
    """A schema and the steps from the root to it. `reachable`: the steps pass only through `properties`."""

    steps: tuple[str, ...]
    schema: Mapping[str, Json]
    reachable: bool

    @property
    def name(self) -> str:
        """The last step: the name of a parameter, or a keyword."""
        return self.steps[-1] if self.steps else ""


def list_subschemas(root: Json) -> Iterator[Subschema]:
    """The root and all schemas inside it in document order, down to MAX_DEPTH steps."""
    waiting: list[tuple[tuple[str, ...], Json, bool]] = [((), root, True)]
    while waiting:
        steps, schema, reachable = waiting.pop()
        if not isinstance(schema, Mapping):
            continue
        yield Subschema(steps, schema, reachable and bool(steps))
        if len(steps) < MAX_DEPTH:
            waiting.extend(reversed(list(_inside(steps, schema, reachable))))


def _inside(
    steps: tuple[str, ...], schema: Mapping[str, Json], reachable: bool
) -> Iterator[tuple[tuple[str, ...], Json, bool]]:
    for keyword, value in schema.items():
        if keyword in _NAMED and isinstance(value, Mapping):
            plain = reachable and keyword == "properties"
            for name, part in value.items():
                yield (*steps, keyword, name), part, plain
        elif keyword in _SEVERAL and isinstance(value, list):
            for index, part in enumerate(value):
                yield (*steps, keyword, str(index)), part, False
        elif keyword in _ONE:
            yield (*steps, keyword), value, False
