"""Evaluates plain TypeScript and JavaScript expressions: literals, constants, and combinations of them."""

from __future__ import annotations

import json
import re
from typing import Final

from tree_sitter import Node

from evidence.canonical import Json
from evidence.derive.source.declared_tool import MAX_STEPS, UNKNOWN, UnknownValue, Value
from evidence.derive.source.script_module import Script, resolve_export, resolve_name

MAX_TEXT: Final = 100_000

_TRANSPARENT: Final = frozenset(
    {"parenthesized_expression", "as_expression", "satisfies_expression", "non_null_expression", "type_assertion"}
)
_ESCAPE: Final = re.compile(r"\\(?:u\{([0-9a-fA-F]{1,6})\}|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r\n|[\s\S]))")
_LETTERS: Final = {
    "n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0",
    "\n": "", "\r\n": "", "\r": "", "\u2028": "", "\u2029": "",
}  # fmt: skip
_PAIRS: Final = re.compile(r"[\ud800-\udbff][\udc00-\udfff]")
_FUNCTIONS: Final = frozenset({"arrow_function", "function_expression", "function"})
_SCHEMAS: Final = frozenset({"zodToJsonSchema", "toJSONSchema"})
_CLEAN: Final = {"trim": str.strip, "trimStart": str.lstrip, "trimEnd": str.rstrip}
_DEDENTERS: Final = frozenset({"dedent", "outdent", "stripIndent", "stripIndents", "html", "md", "markdown"})


def resolve_value(node: Node | None, script: Script, steps: int = 0) -> Value:  # noqa: PLR0911, C901, PLR0912 - one for each form
    """The value of an expression; UNKNOWN when the text does not determine it."""
    if steps == 0:
        script.project.budget.begin()
    if node is None or steps > MAX_STEPS or not script.project.budget.take():
        return UNKNOWN
    steps += 1
    if node.type in _TRANSPARENT:
        return resolve_value(unwrap_expression(node), script, steps)
    match node.type:
        case "string":
            return _whole(unescape_literal(script.text(node)[1:-1]))
        case "template_string":
            return _template(node, script, steps)
        case "number":
            return _number(script.text(node))
        case "true" | "false":
            return node.type == "true"
        case "null":
            return None
        case "array":
            return _array(node, script, steps)
        case "object":
            return _object(node, script, steps)
        case "binary_expression":
            return _sum(node, script, steps)
        case "unary_expression":
            number = resolve_value(node.child_by_field_name("argument"), script, steps)
            is_minus = script.text(node).startswith("-") and isinstance(number, (int, float)) and number is not True
            return -number if is_minus and isinstance(number, (int, float)) else UNKNOWN
        case "identifier":
            found = resolve_name(script.text(node), script)
            return resolve_value(found[0], found[1], steps) if found else UNKNOWN
        case "member_expression":
            found = resolve_member(node, script, steps)
            return resolve_value(found[0], found[1], steps) if found else UNKNOWN
        case "call_expression":
            return _call(node, script, steps)
    return UNKNOWN


def unwrap_expression(node: Node) -> Node | None:
    """The expression inside parentheses and type assertions."""
    children = [child for child in node.named_children if child.type != "comment"]
    if node.type == "type_assertion":
        return children[-1] if children else None
    return children[0] if children else None


def resolve_expression(node: Node | None, script: Script, steps: int = 0) -> tuple[Node, Script] | None:
    """The expression that a name or a member refers to, or else the expression itself."""
    while node is not None and steps <= MAX_STEPS:
        steps += 1
        if node.type in _TRANSPARENT:
            node = unwrap_expression(node)
            continue
        if node.type == "call_expression" and (frozen := _frozen(node, script)) is not None:
            node = frozen
            continue
        if node.type == "identifier":
            found = resolve_name(script.text(node), script)
        elif node.type == "member_expression":
            found = resolve_member(node, script, steps)
            if found is None:
                return node, script
        else:
            return node, script
        if found is None:
            return None
        node, script = found
    return None


def _frozen(node: Node, script: Script) -> Node | None:
    """The argument of `Object.freeze(...)`."""
    called, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if called is None or arguments is None or called.end_byte - called.start_byte > 20:
        return None
    return unwrap_expression(arguments) if script.text(called) == "Object.freeze" else None


def resolve_member(node: Node, script: Script, steps: int = 0) -> tuple[Node, Script] | None:
    """The definition of `a.b`: a member of an object, an enumeration, a class or a module."""
    owner, name = node.child_by_field_name("object"), node.child_by_field_name("property")
    if owner is None or name is None or steps > MAX_STEPS:
        return None
    wanted = script.text(name)
    if owner.type == "identifier":
        specifier, kind = script.imports.get(script.text(owner), ("", ""))
        module = script.project.imported(specifier, script) if kind == "*" else None
        if module is not None:
            return resolve_export(wanted, module)
    found = resolve_expression(owner, script, steps + 1)
    return _inside(found[0], wanted, found[1]) if found else None


def list_object_pairs(node: Node, script: Script) -> list[tuple[str, Node | None]] | None:
    """Keys and values of an object literal, spreads under an empty key; None when a key is computed."""
    found: list[tuple[str, Node | None]] = []
    for child in node.named_children:
        match child.type:
            case "pair":
                key = child.child_by_field_name("key")
                name = read_key(key, script) if key is not None else None
                if name is None:
                    return None
                found.append((name, child.child_by_field_name("value")))
            case "shorthand_property_identifier":
                found.append((script.text(child), child))
            case "spread_element":
                found.append(("", child.named_children[0] if child.named_children else None))
            case "method_definition":
                name_node = child.child_by_field_name("name")
                found.append((script.text(name_node) if name_node else "", child))
    return found


def read_key(key: Node, script: Script) -> str | None:
    """The name of a key; None for a computed key."""
    if key.type == "computed_property_name":
        value = resolve_value(unwrap_expression(key), script, MAX_STEPS // 2)
        return value if isinstance(value, str) else None
    if key.type == "string":
        return unescape_literal(script.text(key)[1:-1])
    return script.text(key)


def unescape_literal(text: str) -> str:
    """The text of a literal without escapes (ECMA-262, 12.9.4)."""
    if "\\" not in text:
        return text
    return _PAIRS.sub(_pair, _ESCAPE.sub(_unescape, text))


def _unescape(found: re.Match[str]) -> str:
    digits = found[1] or found[2] or found[3]
    if digits:
        code = int(digits, 16)
        return chr(code) if code <= 0x10FFFF else "\ufffd"
    return _LETTERS.get(found[4], found[4])


def _pair(found: re.Match[str]) -> str:
    return found[0].encode("utf-16", "surrogatepass").decode("utf-16")


def _whole(text: str) -> Value:
    """A text that UTF-8 can encode; UNKNOWN for any other."""
    if len(text) > MAX_TEXT or any("\ud800" <= letter <= "\udfff" for letter in text):
        return UNKNOWN
    return text


def _number(text: str) -> Value:
    try:
        value = json.loads(text.replace("_", ""))
    except ValueError:
        return UNKNOWN
    if isinstance(value, int) and abs(value) >= 2**53:
        return UNKNOWN
    return value if isinstance(value, (int, float)) and abs(value) < 1e300 else UNKNOWN


def _template(node: Node, script: Script, steps: int) -> Value:
    parts: list[str] = []
    at = node.start_byte + 1
    for child in node.named_children:
        if child.type != "template_substitution":
            continue
        value = resolve_value(unwrap_expression(child), script, steps)
        if isinstance(value, bool) or not isinstance(value, (str, int)):
            return UNKNOWN
        parts += [_slice(script, at, child.start_byte), str(value)]
        at = child.end_byte
    parts.append(_slice(script, at, node.end_byte - 1))
    return _whole("".join(parts))


def _slice(script: Script, start: int, end: int) -> str:
    return unescape_literal(script.source[start:end].decode("utf-8", "replace").replace("\r\n", "\n"))


def _array(node: Node, script: Script, steps: int) -> Value:
    found: list[Json] = []
    for child in node.named_children:
        if child.type == "comment":
            continue
        is_spread = child.type == "spread_element"
        value = resolve_value(child.named_children[0] if is_spread and child.named_children else child, script, steps)
        if is_spread and isinstance(value, list):
            found += value
        elif is_spread or isinstance(value, UnknownValue):
            return UNKNOWN
        else:
            found.append(value)
        if len(found) > MAX_TEXT:
            return UNKNOWN
    return found


def _object(node: Node, script: Script, steps: int) -> Value:
    found: dict[str, Json] = {}
    for name, item in list_object_pairs(node, script) or [("?", None)]:
        value = _shorthand(item, script, steps)
        if not name and isinstance(value, dict):
            found.update(value)
        elif not name or isinstance(value, UnknownValue):
            return {} if not node.named_children else UNKNOWN
        else:
            found[name] = value
    return found


def _shorthand(item: Node | None, script: Script, steps: int) -> Value:
    if item is None or item.type != "shorthand_property_identifier":
        return resolve_value(item, script, steps)
    found = resolve_name(script.text(item), script)
    return resolve_value(found[0], found[1], steps) if found else UNKNOWN


def _sum(node: Node, script: Script, steps: int) -> Value:
    operator = node.child_by_field_name("operator")
    if operator is None or operator.type != "+":
        return UNKNOWN
    left = resolve_value(node.child_by_field_name("left"), script, steps)
    right = resolve_value(node.child_by_field_name("right"), script, steps)
    if isinstance(left, str) and isinstance(right, str):
        return _whole(left + right)
    return UNKNOWN


def _call(node: Node, script: Script, steps: int) -> Value:  # noqa: PLR0911 - one for each form
    called, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if called is None or arguments is None:
        return UNKNOWN
    name = script.text(called.child_by_field_name("property") or called)
    if arguments.type == "template_string":
        text = _template(arguments, script, steps)
        return _dedented(text) if name in _DEDENTERS and isinstance(text, str) else UNKNOWN
    given = [child for child in arguments.named_children if child.type != "comment"]
    subject = called.child_by_field_name("object")
    if name in _SCHEMAS and given:
        return script.project.schema_of(given[0], script, steps)
    if (frozen := _frozen(node, script)) is not None:
        return resolve_value(frozen, script, steps)
    if name in _CLEAN and subject is not None:
        text = resolve_value(subject, script, steps)
        return _CLEAN[name](text) if isinstance(text, str) else UNKNOWN
    if name == "join" and subject is not None:
        parts = resolve_value(subject, script, steps)
        glue: Value = resolve_value(given[0], script, steps) if given else ","
        texts = [part for part in parts if isinstance(part, str)] if isinstance(parts, list) else []
        is_plain = isinstance(parts, list) and len(texts) == len(parts) and isinstance(glue, str)
        return _whole(glue.join(texts)) if is_plain and isinstance(glue, str) else UNKNOWN
    return UNKNOWN


def _dedented(text: str) -> str:
    lines = text.split("\n")
    depth = min((len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()), default=0)
    return "\n".join([lines[0], *(line[depth:] for line in lines[1:])]).strip()


def _inside(node: Node, wanted: str, script: Script) -> tuple[Node, Script] | None:
    if node.type == "object":
        for name, item in reversed(list_object_pairs(node, script) or []):
            if name == wanted and item is not None:
                is_name = item.type == "shorthand_property_identifier"
                return resolve_name(script.text(item), script) if is_name else (item, script)
        return None
    body = node.child_by_field_name("body") if node.type in {"enum_declaration", "class_declaration"} else None
    for line in body.named_children if body is not None else ():
        key = line.child_by_field_name("name") or line.child_by_field_name("property")
        value = line.child_by_field_name("value")
        if key is not None and value is not None and read_key(key, script) == wanted:
            return value, script
    return None
