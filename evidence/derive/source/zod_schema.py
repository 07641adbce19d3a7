"""JSON Schemas of zod schemas as the official SDK writes them, for plain zod schemas.

Only the text is evaluated. Parts without an equivalent in JSON Schema (refinements, messages) are left out; a bound
that is not determined makes the whole schema UNKNOWN.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tree_sitter import Node

from evidence.canonical import Json
from evidence.derive.source.declared_tool import MAX_STEPS, UNKNOWN, UnknownValue, Value
from evidence.derive.source.script_module import Script
from evidence.derive.source.script_value import list_object_pairs, resolve_expression, resolve_value

_TYPES: Final[dict[str, dict[str, Json]]] = {
    "string": {"type": "string"},
    "number": {"type": "number"},
    "int": {"type": "integer"},
    "boolean": {"type": "boolean"},
    "null": {"type": "null"},
    "any": {},
    "unknown": {},
    "date": {"type": "string", "format": "date-time"},
    "email": {"type": "string", "format": "email"},
    "url": {"type": "string", "format": "uri"},
    "uuid": {"type": "string", "format": "uuid"},
}
_FORMATS: Final = {
    "email": "email",
    "url": "uri",
    "uuid": "uuid",
    "datetime": "date-time",
    "date": "date",
    "time": "time",
}
_BOUNDS: Final[dict[str, dict[str, str]]] = {
    "string": {"min": "minLength", "max": "maxLength"},
    "array": {"min": "minItems", "max": "maxItems"},
    "number": {"min": "minimum", "max": "maximum", "gte": "minimum", "lte": "maximum", "gt": "exclusiveMinimum",
               "lt": "exclusiveMaximum", "multipleOf": "multipleOf", "step": "multipleOf"},
}  # fmt: skip
_SIGNS: Final[dict[str, dict[str, Json]]] = {
    "positive": {"exclusiveMinimum": 0},
    "nonnegative": {"minimum": 0},
    "negative": {"exclusiveMaximum": 0},
    "nonpositive": {"maximum": 0},
    "nonempty": {"minItems": 1},
}
_SILENT: Final = frozenset(
    {
        "refine", "superRefine", "transform", "brand", "catch", "trim", "toLowerCase", "toUpperCase", "readonly",
        "strict", "strip", "passthrough", "loose", "finite", "safe", "check", "meta", "overwrite", "normalize",
        "cuid", "ulid",
    }
)  # fmt: skip


_MAY_MISS: Final = frozenset({"optional", "any", "unknown"})
"""Schemas that also accept a missing member."""


def build_zod_schema(node: Node | None, script: Script, steps: int = 0) -> Value:
    """The JSON Schema of a zod expression; UNKNOWN for another expression or one that is not plain."""
    made = _made(node, script, steps)
    return made[0] if made else UNKNOWN


def build_parameters_schema(node: Node | None, script: Script, steps: int = 0) -> Value:
    """The schema of a tool's parameters: a zod object, or an object whose values are zod schemas."""
    found = resolve_expression(node, script, steps)
    if found is None or steps > MAX_STEPS:
        return UNKNOWN
    node, script = found
    if node.type == "object":
        return _object(node, script, steps + 1)
    if node.type == "member_expression" and script.text(node).endswith(".shape"):
        node = node.child_by_field_name("object") or node
    return build_zod_schema(node, script, steps + 1)


_Made = tuple[dict[str, Json], bool]
"""A schema, and whether its member may be missing."""


def _made(node: Node | None, script: Script, steps: int) -> _Made | None:
    found = resolve_expression(node, script, steps)
    if found is None or steps > MAX_STEPS or not script.project.budget.take():
        return None
    node, script = found
    called = node.child_by_field_name("function") if node.type == "call_expression" else None
    arguments = node.child_by_field_name("arguments") if called is not None else None
    if called is None or arguments is None or called.type != "member_expression":
        return None
    owner, name_node = called.child_by_field_name("object"), called.child_by_field_name("property")
    if owner is None or name_node is None:
        return None
    name = script.text(name_node)
    given = [child for child in arguments.named_children if child.type != "comment"]
    if _is_zod(owner, script):
        schema = _constructed(name, given, script, steps + 1)
        if not isinstance(schema, dict):
            return None
        return schema, name in _MAY_MISS or _is_optional_inside(name, given, script, steps)
    inner = _made(owner, script, steps + 1)
    return _modified(inner, name, given, script, steps + 1) if inner else None


def _is_optional_inside(name: str, given: list[Node], script: Script, steps: int) -> bool:
    """For `z.preprocess(..., x.optional())` and `z.nullable(x.optional())` the inner schema decides."""
    if name not in {"preprocess", "nullable", "lazy"} or not given:
        return False
    inner = _made(given[-1], script, steps + 1)
    return inner is not None and inner[1]


def _is_zod(node: Node, script: Script) -> bool:
    """`z`, `zod`, `z.coerce`, `z.iso`, or a name that is imported from zod."""
    text = script.text(node) if node.end_byte - node.start_byte < 80 else ""
    head = text.split(".", 1)[0]
    if text not in {head, f"{head}.coerce", f"{head}.iso"}:
        return False
    source = script.imports.get(head, ("", ""))[0]
    return source.split("/", 1)[0] == "zod" or head in {"z", "zod"}


def _constructed(name: str, given: list[Node], script: Script, steps: int) -> Value:  # noqa: PLR0911 - one for each form
    first = given[0] if given else None
    match name:
        case "object" | "strictObject" | "looseObject":
            shape = resolve_expression(first, script, steps)
            return _object(shape[0], shape[1], steps) if shape and shape[0].type == "object" else UNKNOWN
        case "array" | "set":
            items = build_zod_schema(first, script, steps)
            return UNKNOWN if isinstance(items, UnknownValue) else {"type": "array", "items": items}
        case "enum" | "nativeEnum":
            return _enumeration(first, script, steps)
        case "literal":
            return _literal(resolve_value(first, script, steps))
        case "union" | "discriminatedUnion":
            return _union(given[-1] if given else None, script, steps)
        case "record":
            values = build_zod_schema(given[-1], script, steps) if given else UNKNOWN
            return UNKNOWN if isinstance(values, UnknownValue) else {"type": "object", "additionalProperties": values}
        case "optional":
            return build_zod_schema(first, script, steps)
        case "nullable":
            return _nullable(build_zod_schema(first, script, steps))
    known = _TYPES.get(name)
    return dict(known) if known is not None else UNKNOWN


def _object(node: Node, script: Script, steps: int) -> Value:
    properties: dict[str, Json] = {}
    required: list[Json] = []
    for name, item in _shape(node, script, steps) or ():
        made = _made(item, script, steps + 1) if item is not None else None
        if made is None:
            return UNKNOWN
        properties[name] = made[0]
        if name in required:
            required.remove(name)
        if not made[1]:
            required.append(name)
    if _shape(node, script, steps) is None:
        return UNKNOWN
    schema: dict[str, Json] = {"type": "object", "properties": properties}
    return {**schema, "required": required} if required else schema


def _shape(node: Node, script: Script, steps: int) -> list[tuple[str, Node | None]] | None:
    """Members of a shape, spread ones in place; None when one is not determined. All nodes are from this file."""
    found: list[tuple[str, Node | None]] = []
    pairs = list_object_pairs(node, script)
    if pairs is None or steps > MAX_STEPS:
        return None
    for name, item in pairs:
        if name:
            found.append((name, item))
            continue
        inner = _spread(item, script, steps + 1)
        if inner is None:
            return None
        found += inner
    return found


def _spread(item: Node | None, script: Script, steps: int) -> list[tuple[str, Node | None]] | None:
    """`...Base.shape` and `...shape`."""
    if item is not None and item.type == "member_expression" and script.text(item).endswith(".shape"):
        item = item.child_by_field_name("object")
    target = resolve_expression(item, script, steps)
    if target is None or target[1] is not script:
        return None
    node = target[0]
    if node.type == "call_expression":
        arguments = node.child_by_field_name("arguments")
        called = node.child_by_field_name("function")
        is_object = called is not None and script.text(called) in {"z.object", "zod.object"}
        inner = (
            arguments.named_children[0] if arguments is not None and is_object and arguments.named_children else None
        )
        shape = resolve_expression(inner, script, steps)
        if shape is None or shape[1] is not script:
            return None
        node = shape[0]
    return _shape(node, script, steps + 1) if node.type == "object" else None


def _enumeration(node: Node | None, script: Script, steps: int) -> Value:
    found = resolve_expression(node, script, steps)
    if found is not None and found[0].type == "enum_declaration":
        body = found[0].child_by_field_name("body")
        values: list[Json] = []
        for line in body.named_children if body is not None else ():
            value = resolve_value(line.child_by_field_name("value"), found[1], steps)
            if isinstance(value, UnknownValue):
                return UNKNOWN
            values.append(value)
        return {"type": "string", "enum": values} if all(isinstance(one, str) for one in values) and values else UNKNOWN
    listed = resolve_value(node, script, steps)
    if isinstance(listed, dict):
        listed = list(listed.values())
    if not isinstance(listed, list) or not listed or not all(isinstance(one, str) for one in listed):
        return UNKNOWN
    return {"type": "string", "enum": listed}


def _literal(value: Value) -> Value:
    match value:
        case bool():
            return {"type": "boolean", "const": value}
        case str():
            return {"type": "string", "const": value}
        case int() | float():
            return {"type": "number", "const": value}
    return UNKNOWN


def _union(node: Node | None, script: Script, steps: int) -> Value:
    found = resolve_expression(node, script, steps)
    if found is None or found[0].type != "array":
        return UNKNOWN
    schemas: list[Json] = []
    for child in found[0].named_children:
        if child.type == "comment":
            continue
        schema = build_zod_schema(child, found[1], steps)
        if isinstance(schema, UnknownValue):
            return UNKNOWN
        schemas.append(schema)
    return {"anyOf": schemas}


def _nullable(schema: Value) -> Value:
    if not isinstance(schema, dict):
        return UNKNOWN
    plain = schema.get("type") if set(schema) <= {"type", "description"} else None
    return {**schema, "type": [plain, "null"]} if isinstance(plain, str) else {"anyOf": [schema, {"type": "null"}]}


def _modified(inner: _Made, name: str, given: list[Node], script: Script, steps: int) -> _Made | None:  # noqa: PLR0911
    """The schema after `.name(given)`."""
    schema, optional = inner
    first = given[0] if given else None
    if name in {"optional", "nullish", "nullable"}:
        changed = schema if name == "optional" else _nullable(schema)
        return (changed, optional or name != "nullable") if isinstance(changed, dict) else None
    if name in {"describe", "default"}:
        value = resolve_value(first, script, steps)
        if name == "describe":
            return ({**schema, "description": value}, optional) if isinstance(value, str) else None
        # A computed default makes the member optional; its value is unknown.
        return ({**schema, "default": value} if not isinstance(value, UnknownValue) else schema), True
    if name in _SILENT:
        return inner
    if name == "int":
        return {**schema, "type": "integer"}, optional
    if name in _SIGNS:
        sign = {"minLength": 1} if name == "nonempty" and schema.get("type") == "string" else _SIGNS[name]
        return {**schema, **sign}, optional
    shaped = _reshaped(schema, name, first, script, steps)
    return (shaped, optional) if shaped is not None else None


def _reshaped(
    schema: dict[str, Json], name: str, first: Node | None, script: Script, steps: int
) -> dict[str, Json] | None:
    changes: dict[str, Callable[[], Value]] = {
        "array": lambda: {"type": "array", "items": schema},
        "or": lambda: _either(schema, build_zod_schema(first, script, steps)),
        "extend": lambda: _merged(schema, build_parameters_schema(first, script, steps)),
        "merge": lambda: _merged(schema, build_parameters_schema(first, script, steps)),
        "partial": lambda: (
            {key: value for key, value in schema.items() if key != "required"} if first is None else UNKNOWN
        ),
        "pick": lambda: _picked(schema, first, script, keep=True),
        "omit": lambda: _picked(schema, first, script, keep=False),
        "regex": lambda: _pattern(schema, first, script),
        "length": lambda: _exactly(schema, resolve_value(first, script, steps)),
    }
    if name in changes:
        changed = changes[name]()
        return changed if isinstance(changed, dict) else None
    kind = schema.get("type")
    if name in _FORMATS and kind == "string":
        return {**schema, "format": _FORMATS[name]}
    bound = _BOUNDS.get("number" if kind == "integer" else str(kind), {}).get(name)
    value = resolve_value(first, script, steps) if bound else UNKNOWN
    return {**schema, bound: value} if bound and not isinstance(value, UnknownValue) else None


def _either(schema: dict[str, Json], other: Value) -> Value:
    return UNKNOWN if isinstance(other, UnknownValue) else {"anyOf": [schema, other]}


def _merged(schema: dict[str, Json], other: Value) -> Value:
    if not isinstance(other, dict):
        return UNKNOWN
    mine, theirs = schema.get("properties"), other.get("properties")
    if not isinstance(mine, dict) or not isinstance(theirs, dict):
        return UNKNOWN
    kept = [name for name in _names(schema) if name not in theirs]
    required: list[Json] = [*kept, *_names(other)]
    merged: dict[str, Json] = {**schema, "properties": {**mine, **theirs}}
    merged.pop("required", None)
    return {**merged, "required": required} if required else merged


def _picked(schema: dict[str, Json], first: Node | None, script: Script, *, keep: bool) -> Value:
    chosen = resolve_value(first, script)
    properties = schema.get("properties")
    if not isinstance(chosen, dict) or not isinstance(properties, dict):
        return UNKNOWN
    left = {name: value for name, value in properties.items() if (name in chosen) is keep}
    picked: dict[str, Json] = {"type": "object", "properties": left}
    required: list[Json] = [name for name in _names(schema) if name in left]
    return {**picked, "required": required} if required else picked


def _names(schema: dict[str, Json]) -> list[str]:
    required = schema.get("required")
    return [name for name in required if isinstance(name, str)] if isinstance(required, list) else []


def _pattern(schema: dict[str, Json], first: Node | None, script: Script) -> Value:
    found = resolve_expression(first, script)
    if found is None or found[0].type != "regex":
        return UNKNOWN
    pattern = found[0].child_by_field_name("pattern")
    return {**schema, "pattern": found[1].text(pattern)} if pattern is not None else UNKNOWN


def _exactly(schema: dict[str, Json], length: Value) -> Value:
    if not isinstance(length, int):
        return UNKNOWN
    least, most = ("minItems", "maxItems") if schema.get("type") == "array" else ("minLength", "maxLength")
    return {**schema, least: length, most: length}
