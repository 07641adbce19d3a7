"""Resolves references, `allOf` and unions of a schema into one flat schema, within bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeGuard

from crawler.collectors.protocol.trials import schema_validation
from evidence.canonical import Json

_MOST_STEPS: Final = 1_000
_DEEPEST: Final = 24
_COMPOSED: Final = frozenset({"$ref", "allOf", "anyOf", "oneOf"})
_HIGHEST: Final = frozenset({"minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"})
_LOWEST: Final = frozenset({"maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"})


class SchemaNotFlattened(Exception):
    """No value is made; the message says why in a few stable words."""


class SchemaFlattener:
    """Flattens the parts of one schema. `variant` selects the branch that is taken of every union."""

    def __init__(self, root: Mapping[str, Json], variant: int) -> None:
        self._root = root
        self._variant = variant
        self._left = _MOST_STEPS

    def flatten(self, schema: Json, depth: int = 0) -> dict[str, Json]:
        """The schema as one object without references and unions; raise SchemaNotFlattened when nothing can fit it."""
        self._left -= 1
        if self._left < 0 or depth > _DEEPEST:
            raise SchemaNotFlattened("the schema is composed of too many parts")
        if schema is False:
            raise SchemaNotFlattened("the schema allows nothing")
        if not isinstance(schema, Mapping):
            return {}
        flat = {name: value for name, value in schema.items() if name not in _COMPOSED}
        if "$ref" in schema:
            flat = _merge(
                flat, self.flatten(schema_validation.resolve_reference(self._root, schema["$ref"]), depth + 1)
            )
        branches = schema.get("allOf")
        for part in branches if isinstance(branches, list) else ():
            flat = _merge(flat, self.flatten(part, depth + 1))
        for union in ("anyOf", "oneOf"):
            options = schema.get(union)
            if isinstance(options, list) and options:
                flat = _merge(flat, self.flatten(self._chosen(options), depth + 1))
        return flat

    def _chosen(self, options: list[Json]) -> Json:
        """One branch: null types come last."""
        ordered = sorted(options, key=_is_null)
        return ordered[self._variant % len(ordered)]


def _is_null(schema: Json) -> bool:
    return isinstance(schema, Mapping) and (schema.get("type") == "null" or schema.get("const", ...) is None)


def _merge(one: dict[str, Json], other: Mapping[str, Json]) -> dict[str, Json]:
    merged = dict(one)
    for name, value in other.items():
        merged[name] = _both(name, merged[name], value) if name in merged else value
    return merged


def _both(name: str, one: Json, other: Json) -> Json:
    """The value of a keyword that requires both values; the first where there is none, which the final validation
    rejects.
    """
    if name == "type":
        return _both_types(one, other)
    if name == "properties" and isinstance(one, Mapping) and isinstance(other, Mapping):
        shared: dict[str, Json] = {key: {"allOf": [one[key], other[key]]} for key in one if key in other}
        return {**one, **other, **shared}
    if name in {"required", "enum"} and isinstance(one, list) and isinstance(other, list):
        return [*one, *other] if name == "required" else [value for value in one if value in other]
    if name in _HIGHEST | _LOWEST and _is_number(one) and _is_number(other):
        return max(one, other) if name in _HIGHEST else min(one, other)
    return one


def _both_types(one: Json, other: Json) -> Json:
    mine, others = ([value] if isinstance(value, str) else value for value in (one, other))
    if not isinstance(mine, list) or not isinstance(others, list):
        return one
    kept: list[Json] = [kind for kind in mine if kind in others]
    narrowed = ("number" in mine and "integer" in others) or ("integer" in mine and "number" in others)
    return [*kept, "integer"] if narrowed and "integer" not in kept else kept


def _is_number(value: Json) -> TypeGuard[int | float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
