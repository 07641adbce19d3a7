"""Members of a JSON body as what they should be: whatever a hostile body holds instead is as if it were not there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evidence.canonical import Json


def object_or_empty(value: Json) -> Mapping[str, Json]:
    """The object, or an empty one."""
    return value if isinstance(value, Mapping) else {}


def array_or_empty(value: Json) -> Sequence[Json]:
    """The array, or an empty one; a string is none."""
    return value if isinstance(value, list | tuple) else ()


def objects_in(value: Json) -> list[Mapping[str, Json]]:
    """The objects in an array."""
    return [item for item in array_or_empty(value) if isinstance(item, Mapping)]


def text_or_empty(value: Json) -> str:
    """The string, or an empty one where none is the same as an empty one."""
    return value if isinstance(value, str) else ""


def text_or_none(value: Json) -> str | None:
    """The string, or None where it is unknown."""
    return value if isinstance(value, str) else None


def strings_in(value: Json) -> tuple[str, ...]:
    """The strings in an array."""
    return tuple(item for item in array_or_empty(value) if isinstance(item, str))


def count_or_zero(value: Json) -> int:
    """The whole number of at least zero (true is none), or 0 where none is the same as nothing counted."""
    return count_or_none(value) or 0


def count_or_none(value: Json) -> int | None:
    """The whole number of at least zero (true is none), or None where it is unknown."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
