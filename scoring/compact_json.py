"""JSON for people: as few lines as fit the width."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Final

from evidence.canonical import Json

WIDTH: Final = 78  # of 80 columns, with an indentation of two
_STEP: Final = "  "


def format_compact(value: Json, width: int = WIDTH) -> str:
    """The value as ASCII text; an object or array is on one line when the line is narrower than `width`."""
    return "\n".join(_lines(value, "", 0, width))


def format_alike(before: Json, after: Json) -> tuple[str, str]:
    """Both on one line or none, so that equal members stand beside each other."""
    texts = format_compact(before), format_compact(after)
    if len({"\n" in text for text in texts}) == 1:
        return texts
    first, second = (text if "\n" in text else format_compact(json.loads(text), len(text)) for text in texts)
    return first, second


def _lines(value: Json, indent: str, taken: int, width: int) -> Iterator[str]:
    """The lines of a value; the first one follows `taken` characters, such as a key, and the last precedes a comma."""
    line = json.dumps(value)
    if not value or not isinstance(value, dict | list) or taken + len(line) < width:
        yield line
        return
    opening, closing = ("{", "}") if isinstance(value, dict) else ("[", "]")
    yield opening
    yield from _members(value, indent + _STEP, width)
    yield indent + closing


def _members(value: dict[str, Json] | list[Json], indent: str, width: int) -> Iterator[str]:
    keyed = [(f"{json.dumps(name)}: ", part) for name, part in value.items()] if isinstance(value, dict) else None
    parts = keyed if keyed is not None else [("", part) for part in value]
    for number, (key, part) in enumerate(parts, 1):
        *rest, last = _lines(part, indent, len(indent) + len(key), width)
        comma = "," if number < len(parts) else ""
        lines = [*rest, last + comma]
        yield f"{indent}{key}{lines[0]}"
        yield from lines[1:]
