"""Members of a JSON body as what they should be: whatever a hostile body holds instead is as if it were not there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evidence.canonical import Json


def mapping(value: Json) -> Mapping[str, Json]:
    """The object, or an empty one."""
    return value if isinstance(value, Mapping) else {}


def array(value: Json) -> Sequence[Json]:
    """The array, or an empty one; a string is none."""
    return value if isinstance(value, list | tuple) else ()


def mappings(value: Json) -> list[Mapping[str, Json]]:
    """The objects in an array."""
    return [item for item in array(value) if isinstance(item, Mapping)]


def text(value: Json) -> str:
    """The string, or an empty one where none is the same as an empty one."""
    return value if isinstance(value, str) else ""


def known_text(value: Json) -> str | None:
    """The string, or None where it is unknown."""
    return value if isinstance(value, str) else None


def texts(value: Json) -> tuple[str, ...]:
    """The strings in an array."""
    return tuple(item for item in array(value) if isinstance(item, str))


def count(value: Json) -> int:
    """The whole number of at least zero (true is none), or 0 where none is the same as nothing counted."""
    return known_count(value) or 0


def known_count(value: Json) -> int | None:
    """The whole number of at least zero (true is none), or None where it is unknown."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
