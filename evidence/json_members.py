"""Typed members of JSON bodies: a value of another type, which a hostile body may hold, counts as missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evidence.canonical import Json


def object_or_empty(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


def array_or_empty(value: Json) -> Sequence[Json]:
    """The array, or an empty one; a string is not an array."""
    return value if isinstance(value, list | tuple) else ()


def objects_in(value: Json) -> list[Mapping[str, Json]]:
    return [item for item in array_or_empty(value) if isinstance(item, Mapping)]


def text_or_empty(value: Json) -> str:
    """The string, or an empty one, where a missing string means an empty one."""
    return value if isinstance(value, str) else ""


def text_or_none(value: Json) -> str | None:
    return value if isinstance(value, str) else None


def strings_in(value: Json) -> tuple[str, ...]:
    return tuple(item for item in array_or_empty(value) if isinstance(item, str))


def count_or_zero(value: Json) -> int:
    """The integer of at least 0 (booleans are not integers), or 0, where a missing count means 0."""
    return count_or_none(value) or 0


def count_or_none(value: Json) -> int | None:
    """The integer of at least 0 (booleans are not integers), or None."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
