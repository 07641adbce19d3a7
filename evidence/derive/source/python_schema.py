"""JSON Schemas of Python types as pydantic writes them, but without titles, which repeat the names.

References are written out in place. An unknown type makes the whole schema UNKNOWN.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from msgspec import Struct, field

from evidence.canonical import Json
from evidence.derive.source.declared_tool import MAX_STEPS, UNKNOWN, UnknownValue, Value
from evidence.derive.source.python_module import PythonModule, last_name, resolve_name
from evidence.derive.source.python_value import list_enum_members, resolve_value

_PLAIN: Final[dict[str, dict[str, Json]]] = {
    "str": {"type": "string"},
    "int": {"type": "integer"},
    "float": {"type": "number"},
    "bool": {"type": "boolean"},
    "Any": {},
    "object": {},
    "bytes": {"type": "string", "format": "binary"},
    "datetime": {"type": "string", "format": "date-time"},
    "date": {"type": "string", "format": "date"},
    "time": {"type": "string", "format": "time"},
    "timedelta": {"type": "string", "format": "duration"},
    "UUID": {"type": "string", "format": "uuid"},
    "Path": {"type": "string", "format": "path"},
    "AnyUrl": {"type": "string", "format": "uri", "minLength": 1},
    "AnyHttpUrl": {"type": "string", "format": "uri", "minLength": 1},
    "HttpUrl": {"type": "string", "format": "uri", "minLength": 1, "maxLength": 2083},
    "EmailStr": {"type": "string", "format": "email"},
    "StrictStr": {"type": "string"},
    "StrictInt": {"type": "integer"},
    "StrictBool": {"type": "boolean"},
    "PositiveInt": {"type": "integer", "exclusiveMinimum": 0},
    "NonNegativeInt": {"type": "integer", "minimum": 0},
}
_LISTS: Final = frozenset({"list", "List", "Sequence", "Iterable", "Collection"})
_SETS: Final = frozenset({"set", "Set", "frozenset", "FrozenSet"})
_OBJECTS: Final = frozenset({"dict", "Dict", "Mapping", "MutableMapping"})
_MODELS: Final = frozenset({"BaseModel", "TypedDict"})
_WORDS: Final = {
    "description": "description", "ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf", "pattern": "pattern", "regex": "pattern", "examples": "examples",
    "min_items": "minItems", "max_items": "maxItems",
}  # fmt: skip
_LENGTHS: Final = {"min_length": ("minLength", "minItems"), "max_length": ("maxLength", "maxItems")}
_IGNORED: Final = frozenset({"title", "default", "default_factory", "alias", "exclude", "repr", "frozen", "init"})
_TYPES_OF: Final = {str: "string", bool: "boolean", int: "integer", float: "number"}


class Field(Struct):
    """One parameter or member: its schema, and whether it is required. `name` is the name that callers use."""

    name: str
    schema: Value
    required: bool = True
    extra: dict[str, Json] = field(default_factory=dict)


def build_object_schema(fields: list[Field]) -> Value:
    """The schema of an object with these members; UNKNOWN when a member's schema is."""
    properties: dict[str, Json] = {}
    for one in fields:
        if not isinstance(one.schema, dict):
            return UNKNOWN
        properties[one.name] = one.schema
    schema: dict[str, Json] = {"type": "object", "properties": properties}
    required: list[Json] = [one.name for one in fields if one.required]
    return {**schema, "required": required} if required else schema


def build_field(
    name: str, annotation: ast.expr | None, default: ast.expr | None, module: PythonModule, steps: int = 0
) -> Field:
    """A parameter or member from its annotation and its default, either of which may be missing."""
    # The official SDK treats a parameter without a type as a string.
    schema = build_type_schema(annotation, module, steps) if annotation is not None else {"type": "string"}
    made = Field(name, dict(schema) if isinstance(schema, dict) else schema)
    if default is None:
        return made
    info = default if isinstance(default, ast.Call) and last_name(default) == "Field" else None
    if info is not None:
        made.schema = _constrained(made.schema, info, module, steps)
        made.required, value = _stated_default(info, module, steps)
    else:
        made.required, value = False, resolve_value(default, module, steps)
    if isinstance(made.schema, dict) and not made.required and not isinstance(value, UnknownValue):
        made.schema["default"] = value
    return made


def build_type_schema(node: ast.expr, module: PythonModule, steps: int = 0) -> Value:  # noqa: PLR0911 - one for each form
    """The schema of a type; UNKNOWN for an unsupported one."""
    if steps > MAX_STEPS or not module.project.budget.take():
        return UNKNOWN
    steps += 1
    match node:
        case ast.Constant(value=None):
            return {"type": "null"}
        case ast.Constant(value=str(text)) if len(text) < 1_000:
            return _quoted(text, module, steps)
        case ast.BinOp(op=ast.BitOr()):
            return _any_of(list(_alternatives(node, steps)), module, steps)
        case ast.Subscript():
            return _subscript(node, module, steps)
        case ast.Name() | ast.Attribute():
            return _named(node, module, steps)
    return UNKNOWN


def _quoted(text: str, module: PythonModule, steps: int) -> Value:
    try:
        return build_type_schema(ast.parse(text.strip(), mode="eval").body, module, steps)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return UNKNOWN


def _alternatives(node: ast.expr, steps: int) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr) and steps < 10 * MAX_STEPS:
        yield from _alternatives(node.left, steps + 1)
        yield from _alternatives(node.right, steps + 1)
    else:
        yield node


def _any_of(nodes: list[ast.expr], module: PythonModule, steps: int) -> Value:
    schemas: list[Json] = []
    for node in nodes:
        schema = build_type_schema(node, module, steps)
        if isinstance(schema, UnknownValue):
            return UNKNOWN
        if schema not in schemas:
            schemas.append(schema)
    return {"anyOf": schemas} if len(schemas) != 1 else schemas[0]


def _subscript(node: ast.Subscript, module: PythonModule, steps: int) -> Value:  # noqa: PLR0911 - one for each form
    name = last_name(node.value)
    inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    if name == "Annotated" and inner:
        return _annotated(inner, module, steps)
    if name == "Literal":
        return build_literal_schema([resolve_value(item, module, steps) for item in inner])
    if name == "Optional":
        return _any_of([*inner, ast.Constant(value=None)], module, steps)
    if name == "Union":
        return _any_of(inner, module, steps)
    if name in _LISTS | _SETS and len(inner) == 1:
        items = build_type_schema(inner[0], module, steps)
        unique: dict[str, Json] = {"uniqueItems": True} if name in _SETS else {}
        return UNKNOWN if isinstance(items, UnknownValue) else {"type": "array", "items": items, **unique}
    if name in _OBJECTS and len(inner) == 2:
        values = build_type_schema(inner[1], module, steps)
        return (
            UNKNOWN if isinstance(values, UnknownValue) else {"type": "object", "additionalProperties": values or True}
        )
    if name in {"tuple", "Tuple"}:
        return _tuple(inner, module, steps)
    return UNKNOWN


def _tuple(inner: list[ast.expr], module: PythonModule, steps: int) -> Value:
    if len(inner) == 2 and isinstance(inner[1], ast.Constant) and inner[1].value is ...:
        items = build_type_schema(inner[0], module, steps)
        return UNKNOWN if isinstance(items, UnknownValue) else {"type": "array", "items": items}
    prefix: list[Json] = []
    for node in inner:
        schema = build_type_schema(node, module, steps)
        if isinstance(schema, UnknownValue):
            return UNKNOWN
        prefix.append(schema)
    return {"type": "array", "prefixItems": prefix, "minItems": len(prefix), "maxItems": len(prefix)}


def _annotated(inner: list[ast.expr], module: PythonModule, steps: int) -> Value:
    schema = build_type_schema(inner[0], module, steps)
    for note in inner[1:]:
        if isinstance(note, ast.Call) and last_name(note) in {"Field", "Parameter"}:
            schema = _constrained(schema, note, module, steps)
    return schema


def _constrained(schema: Value, info: ast.Call, module: PythonModule, steps: int) -> Value:
    """The schema with the constraints of `Field(...)`; UNKNOWN when a constraint cannot be determined."""
    if not isinstance(schema, dict):
        return UNKNOWN
    schema = dict(schema)
    for word in info.keywords:
        name = word.arg or ""
        if name in _IGNORED:
            continue
        value = resolve_value(word.value, module, steps)
        if name in _LENGTHS:
            name = _LENGTHS[name][schema.get("type") == "array"]
        elif name in _WORDS:
            name = _WORDS[name]
        else:
            continue
        if value is None:
            continue
        if isinstance(value, UnknownValue):
            return UNKNOWN
        schema[name] = value
    return schema


def _stated_default(info: ast.Call, module: PythonModule, steps: int) -> tuple[bool, Value]:
    """Whether `Field(...)` makes the value required, and its default."""
    words = {word.arg: word.value for word in info.keywords}
    default = info.args[0] if info.args else words.get("default")
    if default is None:
        return "default_factory" not in words, UNKNOWN
    if isinstance(default, ast.Constant) and default.value is ...:
        return True, UNKNOWN
    return False, resolve_value(default, module, steps)


def build_literal_schema(values: list[Value]) -> Value:
    """The schema of a value that is one of these plain values."""
    plain: list[Json] = []
    for value in values:
        if isinstance(value, UnknownValue):
            return UNKNOWN
        plain.append(value)
    kinds = {_TYPES_OF.get(type(value), "") for value in plain}
    kind: dict[str, Json] = {"type": kinds.pop()} if len(kinds) == 1 and "" not in kinds else {}
    return {"const": plain[0], **kind} if len(plain) == 1 else {"enum": plain, **kind}


def _named(node: ast.Name | ast.Attribute, module: PythonModule, steps: int) -> Value:
    name = last_name(node)
    found = resolve_name(name, module) if isinstance(node, ast.Name) else None
    if found is not None:
        named, owner = found
        if isinstance(named, ast.ClassDef):
            return _class(named, owner, steps)
        return build_type_schema(named, owner, steps) if isinstance(named, ast.expr) else UNKNOWN
    if name in _LISTS:
        return {"type": "array", "items": {}}
    if name in _SETS:
        return {"type": "array", "items": {}, "uniqueItems": True}
    if name in _OBJECTS:
        return {"type": "object", "additionalProperties": True}
    known = _PLAIN.get(name)
    return dict(known) if known is not None else UNKNOWN


def _class(declared: ast.ClassDef, module: PythonModule, steps: int) -> Value:
    members = list_enum_members(declared, module)
    if members is not None:
        return build_literal_schema(list(members.values())) if members else UNKNOWN
    fields = _members(declared, module, steps)
    if fields is None:
        return UNKNOWN
    schema = build_object_schema(fields)
    description = ast.get_docstring(declared)
    return {**schema, "description": description} if isinstance(schema, dict) and description else schema


def _members(declared: ast.ClassDef, module: PythonModule, steps: int) -> list[Field] | None:
    """The members of a model, inherited ones included; None for a class that is not a model."""
    known: dict[str, Field] = {}
    is_dataclass = any(last_name(decorator) == "dataclass" for decorator in declared.decorator_list)
    if steps > MAX_STEPS or not (declared.bases or is_dataclass):
        return None
    for base in declared.bases:
        if last_name(base) in _MODELS:
            continue
        found = resolve_name(last_name(base), module)
        inherited = _members(found[0], found[1], steps + 1) if found and isinstance(found[0], ast.ClassDef) else None
        if inherited is None:
            return None
        known.update((one.name, one) for one in inherited)
    for line in declared.body:
        if isinstance(line, ast.AnnAssign) and isinstance(line.target, ast.Name) and _is_member(line):
            known[line.target.id] = build_field(line.target.id, line.annotation, line.value, module, steps)
    return list(known.values())


def _is_member(line: ast.AnnAssign) -> bool:
    name = last_name(line.target)
    head = line.annotation.value if isinstance(line.annotation, ast.Subscript) else line.annotation
    return not name.startswith("_") and name != "model_config" and last_name(head) != "ClassVar"
