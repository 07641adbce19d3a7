"""Evaluates plain Python expressions: literals, constants, and combinations of them."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterable
from typing import Final

from evidence.canonical import Json
from evidence.derive.source.declared_tool import MAX_STEPS, UNKNOWN, UnknownValue, Value
from evidence.derive.source.python_module import PythonModule, last_name, resolve_name

MAX_TEXT: Final = 100_000

_CLEANERS: Final[dict[str, Callable[[str], str]]] = {
    "dedent": textwrap.dedent,
    "cleandoc": inspect.cleandoc,
    "strip": str.strip,
    "rstrip": str.rstrip,
    "lstrip": str.lstrip,
    "str": str,
}
_ENUMS: Final = frozenset({"Enum", "StrEnum", "IntEnum"})
_SCHEMA_METHODS: Final = frozenset({"model_json_schema", "schema"})
_MAX_INTEGER: Final = 2**53


def resolve_value(node: ast.expr | None, module: PythonModule, steps: int = 0) -> Value:  # noqa: PLR0911 - one for each form
    """The value of an expression; UNKNOWN when the text does not determine it."""
    if steps == 0:
        module.project.budget.begin()
    if node is None or steps > MAX_STEPS or not module.project.budget.take():
        return UNKNOWN
    steps += 1
    match node:
        case ast.Constant(value=value):
            return _plain(value)
        case ast.JoinedStr(values=parts):
            return _joined((resolve_value(part, module, steps) for part in parts), "")
        case ast.FormattedValue(value=inner, conversion=-1, format_spec=None):
            return resolve_value(inner, module, steps)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return _items(items, module, steps)
        case ast.Dict():
            return _mapping(node, module, steps)
        case ast.BinOp(op=ast.Add(), left=left, right=right):
            return _sum(resolve_value(left, module, steps), resolve_value(right, module, steps))
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            number = resolve_value(inner, module, steps)
            return -number if isinstance(number, (int, float)) and not isinstance(number, bool) else UNKNOWN
    return _referenced(node, module, steps)


def _referenced(node: ast.expr, module: PythonModule, steps: int) -> Value:
    match node:
        case ast.Name(id=name):
            found = resolve_name(name, module)
            return resolve_value(found[0], found[1], steps) if found and isinstance(found[0], ast.expr) else UNKNOWN
        case ast.Attribute():
            return _attribute(node, module, steps)
        case ast.Call():
            return _call(node, module, steps)
    return UNKNOWN


def list_enum_members(declared: ast.ClassDef, module: PythonModule) -> dict[str, Json] | None:
    """Names and values of an enumeration; None for another class, or when a value is not determined."""
    if not any(last_name(base) in _ENUMS for base in declared.bases):
        return None
    found: dict[str, Json] = {}
    for line in declared.body:
        if isinstance(line, ast.Assign) and len(line.targets) == 1 and isinstance(line.targets[0], ast.Name):
            value = resolve_value(line.value, module, MAX_STEPS - 4)
            if isinstance(value, UnknownValue):
                return None
            found[line.targets[0].id] = value
    return found


def _attribute(node: ast.Attribute, module: PythonModule, steps: int) -> Value:
    if node.attr == "value" and isinstance(node.value, ast.Attribute):
        return _attribute(node.value, module, steps)
    if not isinstance(node.value, ast.Name):
        return UNKNOWN
    owner = resolve_name(node.value.id, module)
    if owner and isinstance(owner[0], ast.ClassDef):
        return _class_member(owner[0], node.attr, owner[1], steps)
    source, member = module.imports.get(node.value.id, ("", ""))
    dotted = f"{source}.{member}" if member and not source.endswith(".") else source + member
    other = module.project.imported(dotted, module) if dotted else None
    found = resolve_name(node.attr, other) if other else None
    return resolve_value(found[0], found[1], steps) if found and isinstance(found[0], ast.expr) else UNKNOWN


def _class_member(declared: ast.ClassDef, name: str, module: PythonModule, steps: int) -> Value:
    members = list_enum_members(declared, module)
    if members is not None:
        return members.get(name, UNKNOWN)
    for line in declared.body:
        if isinstance(line, ast.Assign) and any(last_name(target) == name for target in line.targets):
            return resolve_value(line.value, module, steps)
        if isinstance(line, ast.AnnAssign) and last_name(line.target) == name:
            return resolve_value(line.value, module, steps)
    return UNKNOWN


def _call(node: ast.Call, module: PythonModule, steps: int) -> Value:
    name = last_name(node)
    method = node.func if isinstance(node.func, ast.Attribute) else None
    if name in _SCHEMA_METHODS and method is not None and not node.args:
        return module.project.schema_of(method.value, module, steps)
    if name == "dict" and not node.args and all(word.arg for word in node.keywords):
        return resolve_keywords(node, module, steps)
    if name == "join" and method is not None and len(node.args) == 1:
        glue, parts = resolve_value(method.value, module, steps), resolve_value(node.args[0], module, steps)
        return _joined(parts, glue) if isinstance(parts, list) and isinstance(glue, str) else UNKNOWN
    clean = _CLEANERS.get(name)
    subject = node.args[0] if node.args else (method.value if method else None)
    if clean is None or node.keywords or len(node.args) > 1 or (name.endswith("strip") and node.args):
        return UNKNOWN
    text = resolve_value(subject, module, steps)
    return clean(text) if isinstance(text, str) else UNKNOWN


def resolve_keywords(node: ast.Call, module: PythonModule, steps: int = 0) -> Value:
    """The keyword arguments of a call as an object; UNKNOWN when one of them is."""
    found: dict[str, Json] = {}
    for word in node.keywords:
        value = resolve_value(word.value, module, steps)
        if word.arg is None or isinstance(value, UnknownValue):
            return UNKNOWN
        found[word.arg] = value
    return found


def _plain(value: object) -> Value:
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > _MAX_INTEGER:
        return UNKNOWN
    if isinstance(value, str):
        # A literal may contain lone surrogates; a record may not.
        return value if (len(value) <= MAX_TEXT and value.isascii()) or _is_whole(value) else UNKNOWN
    return value if value is None or (isinstance(value, (bool, int, float)) and value == value) else UNKNOWN  # noqa: PLR0124


def _is_whole(text: str) -> bool:
    return len(text) <= MAX_TEXT and not any("\ud800" <= letter <= "\udfff" for letter in text)


def _joined(parts: Iterable[Value], glue: str) -> Value:
    texts: list[str] = []
    for part in parts:
        if isinstance(part, bool) or not isinstance(part, (str, int)):
            return UNKNOWN
        texts.append(str(part))
    text = glue.join(texts)
    return text if len(text) <= MAX_TEXT else UNKNOWN


def _sum(left: Value, right: Value) -> Value:
    if isinstance(left, str) and isinstance(right, str):
        return left + right if len(left) + len(right) <= MAX_TEXT else UNKNOWN
    if isinstance(left, list) and isinstance(right, list):
        return left + right if len(left) + len(right) <= MAX_TEXT else UNKNOWN
    return UNKNOWN


def _items(items: list[ast.expr], module: PythonModule, steps: int) -> Value:
    found: list[Json] = []
    for item in items:
        inner = item.value if isinstance(item, ast.Starred) else item
        value = resolve_value(inner, module, steps)
        if isinstance(item, ast.Starred) and isinstance(value, list):
            found += value
        elif isinstance(item, ast.Starred) or isinstance(value, UnknownValue):
            return UNKNOWN
        else:
            found.append(value)
        if len(found) > MAX_TEXT:
            return UNKNOWN
    return found


def _mapping(node: ast.Dict, module: PythonModule, steps: int) -> Value:
    found: dict[str, Json] = {}
    for key, item in zip(node.keys, node.values, strict=True):
        value = resolve_value(item, module, steps)
        name = resolve_value(key, module, steps) if key is not None else None
        if key is None and isinstance(value, dict):
            found.update(value)
        elif not isinstance(name, str) or isinstance(value, UnknownValue):
            return UNKNOWN
        else:
            found[name] = value
    return found
