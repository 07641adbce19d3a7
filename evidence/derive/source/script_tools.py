"""Tools in TypeScript and JavaScript: `registerTool` and similar calls, and objects with a name and an input schema."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from msgspec import Struct
from tree_sitter import Node

from evidence.canonical import Json
from evidence.derive.source.declared_tool import UNKNOWN, Tool, Value, name_or_none, object_or_none, text_or_none
from evidence.derive.source.script_module import Script, Scripts
from evidence.derive.source.script_value import list_object_pairs, resolve_expression, resolve_value
from evidence.derive.source.zod_schema import build_parameters_schema

_HINT: Final = re.compile(
    rb"registerTool|\.tool\(|\.tool<|addTool|inputSchema|input_schema|registerAppTool|\b(?:handler|execute)\b"
)
_FUNCTIONS: Final = frozenset({"arrow_function", "function_expression", "function"})
_SCHEMA_KEYS: Final = ("inputSchema", "input_schema")
_OWN_KEYS: Final = ("schema", "parameters", "input", "paramsSchema", "argsSchema")
_DOERS: Final = ("handler", "execute")
"""Members that only a tool of a self-made framework has beside a name, a description and a schema."""

_ANNOTATIONS: Final = frozenset({"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint", "title"})
_SERVERS: Final = ("server", "mcp")
_REGISTER: Final = frozenset({"registerTool", "registerToolTask"})


def find_script_tools(path: str, project: Scripts) -> Iterator[Tool]:
    """The tools that a file declares, unordered; none for a file that cannot be parsed."""
    script = project.script(path) if _HINT.search(project.sources.get(path, b"")) else None
    for node in script.nodes if script else ():
        tool: Tool | None = None
        if script and node.type == "call_expression":
            tool = _registered(node, script)
        elif script and node.type == "object":
            tool = _described(node, script)
        if tool:
            yield tool


def _registered(node: Node, script: Script) -> Tool | None:
    called, arguments = node.child_by_field_name("function"), node.child_by_field_name("arguments")
    if called is None or arguments is None or arguments.type != "arguments":
        return None
    owner, method = called.child_by_field_name("object"), called.child_by_field_name("property")
    name = script.text(method or called) if called.end_byte - called.start_byte < 200 else ""
    given = [child for child in arguments.named_children if child.type != "comment"]
    if name == "registerAppTool" and len(given) >= 3:
        return _configured(given[1:], node, script)
    if name in _REGISTER and owner is not None and len(given) >= 2:
        return _configured(given, node, script)
    if name == "tool" and owner is not None and len(given) >= 2 and _is_server(owner, script):
        return _positional(given, node, script)
    return _added(given[0], node, script) if name == "addTool" and given else None


def _is_server(owner: Node, script: Script) -> bool:
    """Whether `X.tool(...)` belongs to an MCP server, by the name or the constructor of X."""
    text = script.text(owner).lower() if owner.end_byte - owner.start_byte < 200 else ""
    found = resolve_expression(owner, script)
    made = script.text(found[0])[:80] if found is not None and found[0].type == "new_expression" else ""
    return "McpServer" in made or any(word in text for word in _SERVERS)


def _configured(given: list[Node], node: Node, script: Script) -> Tool | None:
    """`registerTool(name, {description, inputSchema, annotations}, callback)`."""
    config = _members(given[1], script)
    if config is None:
        return _tool(_Place(node, script), resolve_value(given[0], script), UNKNOWN, UNKNOWN, UNKNOWN)
    members, owner = config
    schema = build_parameters_schema(members["inputSchema"], owner) if "inputSchema" in members else _NOTHING
    described = resolve_value(members.get("description"), owner)
    hints = resolve_value(members.get("annotations"), owner)
    return _tool(_Place(node, script), resolve_value(given[0], script), described, schema, hints)


_NOTHING: Final[dict[str, Json]] = {"type": "object", "properties": {}}


def _positional(given: list[Node], node: Node, script: Script) -> Tool | None:
    """`tool(name, [description], [parameters or annotations], [annotations], callback)`."""
    name = resolve_value(given[0], script)
    rest = given[1:]
    described: Value = None
    first = resolve_value(rest[0], script)
    if isinstance(first, str):
        described, rest = first, rest[1:]
    elif rest[0].type in {"string", "template_string", "binary_expression"}:
        described, rest = UNKNOWN, rest[1:]
    rest = rest[:-1] if rest and (len(rest) > 1 or rest[0].type in _FUNCTIONS) else rest
    schema: Value = _NOTHING
    hints: Value = None
    for at, one in enumerate(rest):
        value = resolve_value(one, script)
        if isinstance(value, dict) and value and set(value) <= _ANNOTATIONS:
            hints = value
        elif at == 0:
            schema = build_parameters_schema(one, script)
    return _tool(_Place(node, script), name, described, schema, hints)


def _added(given: Node, node: Node, script: Script) -> Tool | None:
    """`addTool({name, description, parameters, annotations})` of the TypeScript FastMCP."""
    config = _members(given, script)
    if config is None or any(key in config[0] for key in (*_SCHEMA_KEYS, *_DOERS)):
        return None  # the object itself is also visited
    members, owner = config
    schema = build_parameters_schema(members["parameters"], owner) if "parameters" in members else _NOTHING
    described = resolve_value(members.get("description"), owner)
    hints = resolve_value(members.get("annotations"), owner)
    return _tool(_Place(node, script), resolve_value(members.get("name"), owner), described, schema, hints)


def _described(node: Node, script: Script) -> Tool | None:
    """`{name, description, inputSchema}` as in the result of tools/list."""
    pairs = list_object_pairs(node, script)
    members = dict(pairs) if pairs is not None else {}
    is_own = "description" in members and any(key in members for key in _DOERS)
    key = next((key for key in (*_SCHEMA_KEYS, *(_OWN_KEYS if is_own else ())) if key in members), "")
    if not key or "name" not in members:
        return None
    schema = _schema(members[key], script)
    described = _own(members.get("description"), script)
    hints = _own(members.get("annotations"), script)
    return _tool(_Place(node, script), _own(members["name"], script), described, schema, hints)


def _own(node: Node | None, script: Script) -> Value:
    """The value of a member; `{name}` alone is the constant of that name."""
    if node is None or node.type != "shorthand_property_identifier":
        return resolve_value(node, script)
    found = script.bound.get(script.text(node))
    return resolve_value(found, script) if found is not None else UNKNOWN


def _schema(node: Node | None, script: Script) -> Value:
    """A JSON Schema or a zod schema."""
    if node is not None and node.type == "shorthand_property_identifier":
        node = script.bound.get(script.text(node))
    value = resolve_value(node, script)
    return value if isinstance(value, dict) and value else build_parameters_schema(node, script)


def _members(node: Node, script: Script) -> tuple[Mapping[str, Node | None], Script] | None:
    found = resolve_expression(node, script)
    if found is None or found[0].type != "object":
        return None
    pairs = list_object_pairs(found[0], found[1])
    return None if pairs is None or any(not name for name, _ in pairs) else (dict(pairs), found[1])


class _Place(Struct, frozen=True):
    node: Node
    script: Script


def _tool(at: _Place, name: Value, described: Value, schema: Value, hints: Value) -> Tool | None:
    known = name_or_none(name)
    if known is None:
        return None
    return Tool(
        name=known,
        description=text_or_none(described),
        input=object_or_none(schema),
        annotations=object_or_none(hints),
        path=at.script.path,
        line=at.node.start_point.row + 1,
        by=at.script.language,
    )
