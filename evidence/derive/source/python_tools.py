"""Tools in Python: decorated functions (FastMCP and similar) and `Tool(...)` of the low-level server."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from evidence.canonical import Json
from evidence.derive.source.declared_tool import (
    UNKNOWN,
    Tool,
    UnknownValue,
    Value,
    name_or_none,
    object_or_none,
    text_or_none,
)
from evidence.derive.source.python_module import PythonModule, PythonProject, last_name, resolve_name
from evidence.derive.source.python_schema import Field, build_field, build_object_schema
from evidence.derive.source.python_value import resolve_keywords, resolve_value

HINTS: Final = ("mcp",)
"""A file without any of them declares no tool."""

_TOOL: Final = "tool"
_SERVERS: Final = ("mcp", "server", "app", "router", "provider")
_OTHERS: Final = frozenset({"pydantic_ai", "langchain", "langchain_core", "langgraph", "crewai", "smolagents"})
"""Frameworks of agents, which declare tools of their own."""
_OURS: Final = frozenset({"mcp", "fastmcp", "mcp_types"})
_CONTEXTS: Final = frozenset({"Context", "Session", "RunContext"})
_SUPPLIED: Final = frozenset({"Depends", "Resolve", "CurrentContext"})
_HINTS: Final = frozenset({"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint", "title"})

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef


def find_python_tools(path: str, project: PythonProject) -> Iterator[Tool]:
    """The tools that a file declares, unordered; none for a file that cannot be parsed."""
    text = project.texts.get(path, "")
    module = project.module(path) if _TOOL in text.lower() and any(hint in text.lower() for hint in HINTS) else None
    if module is None:
        return
    for node in module.nodes:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from _decorated(node, module)
        elif isinstance(node, ast.Call):
            yield from _called(node, module)


def _decorated(function: Function, module: PythonModule) -> Iterator[Tool]:
    for decorator in function.decorator_list:
        call = decorator if isinstance(decorator, ast.Call) else None
        target = call.func if call else decorator
        if last_name(target) == _TOOL and _is_server(target, module):
            tool = _of_function(function, call, module)
            if tool:
                yield tool


def _called(node: ast.Call, module: PythonModule) -> Iterator[Tool]:
    name = last_name(node)
    tool: Tool | None = None
    if name == "Tool" and any(word.arg in {"inputSchema", "input_schema"} for word in node.keywords):
        tool = _literal(node, module)
    elif name in {"add_tool", "from_function"} and node.args and _is_server_method(node, module):
        tool = _of_named(node.args[0], node, module)
    elif isinstance(node.func, ast.Call) and last_name(node.func) == _TOOL and len(node.args) == 1:
        # `mcp.tool(name="x")(function)`
        tool = _of_named(node.args[0], node.func, module) if _is_server(node.func.func, module) else None
    if tool:
        yield tool


def _of_named(node: ast.expr, call: ast.Call, module: PythonModule) -> Tool | None:
    found = resolve_name(node.id, module) if isinstance(node, ast.Name) else None
    if found and isinstance(found[0], (ast.FunctionDef, ast.AsyncFunctionDef)):
        return _of_function(found[0], call, found[1])
    return None


def _is_server_method(node: ast.Call, module: PythonModule) -> bool:
    return (last_name(node) == "from_function" and module.imports_of(*_OURS)) or _is_server(node.func, module)


def _is_server(target: ast.expr, module: PythonModule) -> bool:
    """Whether `X.tool` belongs to an MCP server: by the constructor of X, else by its name unless the file is about
    agents.
    """
    if isinstance(target, ast.Name):
        return module.imports.get(target.id, ("", ""))[0].split(".", 1)[0] in _OURS
    owner = target.value if isinstance(target, ast.Attribute) else None
    name = last_name(owner) if owner is not None else ""
    found = resolve_name(name, module) if isinstance(owner, ast.Name) else None
    if found and isinstance(found[0], ast.Call):
        made = last_name(found[0])
        return "MCP" in made or ("Agent" not in made and module.imports_of(*_OURS) and not module.imports_of(*_OTHERS))
    known = any(word in name.lower() for word in _SERVERS) or module.imports_of(*_OURS)
    return known and not module.imports_of(*_OTHERS)


def _of_function(function: Function, call: ast.Call | None, module: PythonModule) -> Tool | None:
    words = {word.arg: word.value for word in call.keywords if word.arg} if call else {}
    name: Value = function.name
    if "name" in words:
        name = resolve_value(words["name"], module)
    elif call and last_name(call) == _TOOL and call.args:
        name = resolve_value(call.args[0], module)
    known = name_or_none(function.name if name is None else name)
    if known is None:
        return None
    stated = resolve_value(words["description"], module) if "description" in words else None
    description = _docstring(function) if stated is None else stated
    return Tool(
        name=known,
        description=text_or_none(description),
        input=object_or_none(_input(function, module)),
        annotations=_annotations(words.get("annotations"), module),
        path=module.path,
        line=function.lineno,
        by="python",
    )


def _docstring(function: Function) -> Value:
    text = ast.get_docstring(function, clean=False)
    if text is None:
        return None
    return inspect.cleandoc(text) if text.isprintable() or not _has_halves(text) else UNKNOWN


def _has_halves(text: str) -> bool:
    return any("\ud800" <= letter <= "\udfff" for letter in text)


def _input(function: Function, module: PythonModule) -> Value:
    taken = function.args
    if taken.vararg or taken.kwarg:
        return UNKNOWN
    places = [*taken.posonlyargs, *taken.args]
    defaults: list[ast.expr | None] = [*[None] * (len(places) - len(taken.defaults)), *taken.defaults]
    pairs = [*zip(places, defaults, strict=True), *zip(taken.kwonlyargs, taken.kw_defaults, strict=True)]
    return build_object_schema(
        [_parameter(place, default, module) for place, default in pairs if _is_asked(place, default)]
    )


def _parameter(place: ast.arg, default: ast.expr | None, module: PythonModule) -> Field:
    return build_field(place.arg, place.annotation, default, module)


def _is_asked(place: ast.arg, default: ast.expr | None) -> bool:
    """Whether callers provide the parameter, and not the framework."""
    if place.arg in {"self", "cls"} or (default is not None and last_name(default) in _SUPPLIED):
        return False
    named = {last_name(node) for node in ast.walk(place.annotation)} if place.annotation is not None else set()
    quoted = place.annotation.value if isinstance(place.annotation, ast.Constant) else ""
    is_context = bool(named & _CONTEXTS) or (isinstance(quoted, str) and quoted.split("[")[0].endswith("Context"))
    return not is_context and not (named & _SUPPLIED)


def _literal(node: ast.Call, module: PythonModule) -> Tool | None:
    words = {word.arg: word.value for word in node.keywords if word.arg}
    name = name_or_none(resolve_value(words.get("name"), module))
    if name is None:
        return None
    schema = words.get("inputSchema", words.get("input_schema"))
    return Tool(
        name=name,
        description=text_or_none(resolve_value(words.get("description"), module)),
        input=object_or_none(resolve_value(schema, module)),
        annotations=_annotations(words.get("annotations"), module),
        path=module.path,
        line=node.lineno,
        by="python",
    )


def _annotations(node: ast.expr | None, module: PythonModule) -> Mapping[str, Json] | None:
    if node is None:
        return None
    is_made = isinstance(node, ast.Call) and last_name(node) == "ToolAnnotations"
    value = resolve_keywords(node, module) if is_made and isinstance(node, ast.Call) else resolve_value(node, module)
    if isinstance(value, UnknownValue) or not isinstance(value, dict):
        return None
    return {_hint(name): known for name, known in value.items() if known is not None}


def _hint(name: str) -> str:
    """The protocol's spelling; newer SDKs also accept `read_only_hint`."""
    head, *rest = name.split("_")
    spelt = head + "".join(part.capitalize() for part in rest)
    return spelt if spelt in _HINTS else name
