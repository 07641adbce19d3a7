"""Validates a value against an untrusted JSON Schema, offline, and only when that is cheap.

A few hundred bytes of schema can keep a validator busy for years: references that branch at every level, regular
expressions that backtrack. The cost of validating is therefore estimated first, and a schema that costs too much is not
applied.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import unquote

import jsonschema_rs

from evidence.canonical import Json

MAX_DEPTH: Final = 64  # of a schema
MAX_VALUES: Final = 4_000  # of a schema
MAX_INSTANCE: Final = 20_000  # values of an instance
MAX_INSTANCE_DEPTH: Final = 32
MAX_COST: Final = 5_000_000  # times that a part of the schema is applied to a value
_DETAILED: Final = 50_000  # the same, for a violation with its path: a union keeps every error of every branch

_DIALECTS: Final[Mapping[str, type[jsonschema_rs.Validator]]] = {
    "https://json-schema.org/draft/2020-12/schema": jsonschema_rs.Draft202012Validator,
    "https://json-schema.org/draft/2019-09/schema": jsonschema_rs.Draft201909Validator,
    "http://json-schema.org/draft-07/schema": jsonschema_rs.Draft7Validator,
    "http://json-schema.org/draft-06/schema": jsonschema_rs.Draft6Validator,
    "http://json-schema.org/draft-04/schema": jsonschema_rs.Draft4Validator,
}
_NEWEST: Final = jsonschema_rs.Draft202012Validator
_SAME_VALUE: Final = ("allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies")
_INNER_VALUES: Final = (
    *("properties", "patternProperties", "additionalProperties", "propertyNames", "unevaluatedProperties"),
    *("items", "prefixItems", "additionalItems", "contains", "unevaluatedItems"),
)
_NAMED: Final = frozenset({"properties", "patternProperties", "dependentSchemas", "dependencies"})
_MOVING: Final = frozenset({"$dynamicRef", "$recursiveRef"})


class SchemaNotDecidable(Exception):
    """The schema or the value is beyond what is validated here; the message says why in a few stable words."""


def find_violation(schema: Json, value: Json, *, formats: bool = False) -> str | None:
    """The path in the schema that the value violates; None when it fits. Raise SchemaNotDecidable if undecidable.

    The answer never contains a part of the value. `formats`: also validate `format`, which newer dialects leave open.
    """
    _within(schema, MAX_VALUES, MAX_DEPTH, "schema")
    size, depth = _within(value, MAX_INSTANCE, MAX_INSTANCE_DEPTH, "value")
    cost = _Cost(schema).at(depth) * size
    if cost > MAX_COST:
        raise SchemaNotDecidable("the schema takes too long to apply")
    try:
        validator = _validator(schema, formats=formats)
        if validator.is_valid(value):
            return None
        first = next(validator.iter_errors(value), None) if cost <= _DETAILED else None
    except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
        raise SchemaNotDecidable("the schema is not valid") from error
    return ("/".join(map(str, first.schema_path)) or "the root") if first else "somewhere"


def resolve_reference(root: Json, reference: Json) -> Json:
    """The part of a schema to which a local reference leads; raise SchemaNotDecidable for any other reference."""
    if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
        raise SchemaNotDecidable("a reference leads out of the schema")
    found: Json = root
    for part in reference.split("/")[1:]:
        name = unquote(part).replace("~1", "/").replace("~0", "~")
        if isinstance(found, Mapping) and name in found:
            found = found[name]
        elif isinstance(found, list) and name.isascii() and name.isdigit() and int(name[:6]) < len(found):
            found = found[int(name[:6])]
        else:
            raise SchemaNotDecidable("a reference leads nowhere")
    return found


def _validator(schema: Json, *, formats: bool) -> jsonschema_rs.Validator:
    named = schema.get("$schema") if isinstance(schema, Mapping) else None
    dialect = _DIALECTS.get(named.removesuffix("#") if isinstance(named, str) else "", _NEWEST)
    # Without `$schema`: the validator would try to fetch an unknown dialect instead of applying the default.
    plain: Any = schema
    if isinstance(schema, Mapping):
        plain = {name: part for name, part in schema.items() if name != "$schema"}
    patterns = jsonschema_rs.FancyRegexOptions(backtrack_limit=50_000, size_limit=1 << 20)
    return dialect(plain, validate_formats=formats, offline=True, pattern_options=patterns)


def _within(value: Json, values: int, depth: int, what: str) -> tuple[int, int]:
    """The number of values and of their levels; raise SchemaNotDecidable beyond the caps."""
    level: list[Json] = [value]
    seen, reached = 0, 0
    while level:
        seen, reached = seen + len(level), reached + 1
        if seen > values or reached > depth:
            raise SchemaNotDecidable(f"the {what} is larger or deeper than is judged")
        level = [inner for outer in level for inner in _inner(outer)]
    return seen, reached


def _inner(value: Json) -> list[Json]:
    if isinstance(value, Mapping):
        return list(value.values())
    return list(value) if isinstance(value, list) else []


class _Cost:
    """How often the parts of a schema can meet the values of an instance, references followed."""

    def __init__(self, root: Json) -> None:
        self._root = root
        if _mentions(root, _MOVING) or (_mentions(root, {"$ref"}) and _has_inner_id(root)):
            raise SchemaNotDecidable("a reference that depends on where it is read from")
        self._same_value: dict[int, list[int]] = {}
        self._inner_values: dict[int, list[int]] = {}
        self._collect_parts()
        self._order = self._innermost_first()

    def at(self, depth: int) -> int:
        """The cost for an instance of so many levels, each with one value."""
        inner: dict[int, int] = {}
        for _ in range(depth):
            same_value: dict[int, int] = {}
            for each in self._order:
                deeper = sum(inner.get(part, 1) for part in self._inner_values[each])
                same_value[each] = min(
                    MAX_COST + 1, 1 + sum(same_value[part] for part in self._same_value[each]) + deeper
                )
            inner = same_value
        return inner.get(id(self._root), 1)

    def _collect_parts(self) -> None:
        """For each reachable schema, note the schemas for the same value and those for values inside it."""
        waiting: list[Json] = [self._root]
        while waiting:
            schema = waiting.pop()
            if id(schema) in self._same_value:
                continue
            members = schema if isinstance(schema, Mapping) else {}
            same_value, inner = list(_parts(members, _SAME_VALUE)), list(_parts(members, _INNER_VALUES))
            if "$ref" in members:
                same_value.append(resolve_reference(self._root, members["$ref"]))
            twice = 2 if any(name.startswith("unevaluated") for name in members) else 1
            self._same_value[id(schema)] = [id(part) for part in same_value] * twice
            self._inner_values[id(schema)] = [id(part) for part in inner] * twice
            waiting += same_value + inner

    def _innermost_first(self) -> list[int]:
        """All schemas, each after those for the same value; raise SchemaNotDecidable on a cycle."""
        order: list[int] = []
        state: dict[int, bool] = {}  # False: begun, True: done
        for start in self._same_value:
            waiting = [start]
            while waiting:
                each = waiting[-1]
                if each not in state:
                    state[each] = False
                    if any(state.get(part) is False for part in self._same_value[each]):
                        raise SchemaNotDecidable("a reference leads back to itself")
                    waiting += [part for part in self._same_value[each] if part not in state]
                    continue
                waiting.pop()
                if not state[each]:
                    state[each] = True
                    order.append(each)
                if len(waiting) > MAX_VALUES:
                    raise SchemaNotDecidable("references in a long row")
        return order


def _parts(schema: Mapping[str, Json], keywords: tuple[str, ...]) -> Iterator[Json]:
    for keyword in keywords:
        value = schema.get(keyword)
        if isinstance(value, Mapping):
            yield from value.values() if keyword in _NAMED else (value,)
        elif isinstance(value, list):
            yield from value


def _mentions(schema: Json, keywords: frozenset[str] | set[str]) -> bool:
    waiting: list[Json] = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Mapping) and not keywords.isdisjoint(part):
            return True
        waiting.extend(_inner(part))
    return False


def _has_inner_id(schema: Json) -> bool:
    return any(_mentions(part, {"$id"}) for part in _inner(schema))
