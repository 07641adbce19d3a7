"""Tool arguments that a modern request repeats in its headers (2026-07-28 transports, `x-mcp-header`)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from evidence.canonical import Json
from evidence.compiled_on_use import compile_on_use

_KEYWORD: Final = "x-mcp-header"
_PREFIX: Final = "mcp-param-"
_TOKEN: Final = compile_on_use(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}")
_MAX_DEPTH: Final = 8
_MAX_HEADERS: Final = 32  # headers of one call

HeaderMirror = Callable[[Mapping[str, Json]], Sequence[tuple[str, str]]]
"""Maps the parameters of `tools/call` to the headers that must repeat them, as plain text."""


def find_mirrored_parameters(tools: Sequence[Json]) -> HeaderMirror:
    """The headers of calls of these tools. An `x-mcp-header` with an invalid name or a structured value is ignored."""
    schemas = {
        name: tool.get("inputSchema")
        for tool in tools
        if isinstance(tool, dict) and isinstance(name := tool.get("name"), str)
    }

    def mirror(params: Mapping[str, Json]) -> Sequence[tuple[str, str]]:
        name = params.get("name")
        schema = schemas.get(name) if isinstance(name, str) else None
        return list(_marked(schema, params.get("arguments"), _MAX_DEPTH))[:_MAX_HEADERS]

    return mirror


def _marked(schema: Json, value: Json, depth: int) -> Iterator[tuple[str, str]]:
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping) or not isinstance(value, Mapping) or depth == 0:
        return
    for name, inner in properties.items():
        if name not in value or not isinstance(inner, Mapping):
            continue
        header, text = inner.get(_KEYWORD), _plain(value[name])
        if isinstance(header, str) and _TOKEN.fullmatch(header) and text is not None:
            yield _PREFIX + header.lower(), text
        yield from _marked(inner, value[name], depth - 1)


def _plain(value: Json) -> str | None:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | str():
            return str(value)
        case _:
            return None
