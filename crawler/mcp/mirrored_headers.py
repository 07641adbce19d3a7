"""Arguments that a modern request repeats in its headers (2026-07-28 transports, `x-mcp-header`)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from evidence.canonical import Json

_MARK: Final = "x-mcp-header"
_PREFIX: Final = "mcp-param-"
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}")
_DEEPEST: Final = 8
_MOST: Final = 32  # headers of one call

HeaderMirror = Callable[[Mapping[str, Json]], Sequence[tuple[str, str]]]
"""From the parameters of `tools/call` to what its headers must repeat, as plain text."""


def find_mirrored_parameters(tools: Sequence[Json]) -> HeaderMirror:
    """What calls of these tools repeat. A mark that is no header's name, or not on a plain value, asks for nothing."""
    schemas = {
        name: tool.get("inputSchema")
        for tool in tools
        if isinstance(tool, Mapping) and isinstance(name := tool.get("name"), str)
    }

    def mirror(params: Mapping[str, Json]) -> Sequence[tuple[str, str]]:
        name = params.get("name")
        schema = schemas.get(name) if isinstance(name, str) else None
        return list(_marked(schema, params.get("arguments"), _DEEPEST))[:_MOST]

    return mirror


def _marked(schema: Json, value: Json, depth: int) -> Iterator[tuple[str, str]]:
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping) or not isinstance(value, Mapping) or depth == 0:
        return
    for name, inner in properties.items():
        if name not in value or not isinstance(inner, Mapping):
            continue
        mark, text = inner.get(_MARK), _plain(value[name])
        if isinstance(mark, str) and _TOKEN.fullmatch(mark) and text is not None:
            yield _PREFIX + mark.lower(), text
        yield from _marked(inner, value[name], depth - 1)


def _plain(value: Json) -> str | None:
    match value:
        case bool():
            return "true" if value else "false"
        case int() | str():
            return str(value)
        case _:
            return None
