"""Typed members of JSON bodies: a value of another type, which a hostile body may hold, counts as missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeVar

from msgspec import Struct

from evidence.canonical import Json

T = TypeVar("T", bound=Struct)


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


def pairs_in(value: Json) -> tuple[tuple[str, str], ...]:
    """The pairs of strings in an array."""
    found = (strings_in(item) for item in array_or_empty(value))
    return tuple((pair[0], pair[1]) for pair in found if len(pair) == 2)


def count_or_zero(value: Json) -> int:
    """The integer of at least 0 (booleans are not integers), or 0, where a missing count means 0."""
    return count_or_none(value) or 0


def count_or_none(value: Json) -> int | None:
    """The integer of at least 0 (booleans are not integers), or None."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def counts_in(value: Json) -> tuple[int, ...]:
    """The whole numbers of at least zero in an array."""
    return tuple(count for item in array_or_empty(value) if (count := count_or_none(item)) is not None)


def flag_or_none(value: Json) -> bool | None:
    """The boolean, or None where it is unknown."""
    return value if isinstance(value, bool) else None


_READERS: Final[Mapping[str, Callable[[Json], Any]]] = {
    "str": text_or_empty,
    "str | None": text_or_none,
    "int": count_or_zero,
    "int | None": count_or_none,
    "bool": lambda value: value is True,
    "bool | None": flag_or_none,
    "tuple[str, ...]": strings_in,
    "tuple[int, ...]": counts_in,
    "tuple[tuple[str, str], ...]": pairs_in,
    "tuple[str, ...] | None": lambda value: strings_in(value) if isinstance(value, list) else None,
    "Mapping[str, Json]": object_or_empty,
    "Mapping[str, Json] | None": lambda value: value if isinstance(value, Mapping) else None,
}
"""How a field is read from its member, by the annotation of the field."""


def read_members(kind: type[T], members: Mapping[str, Json], **others: object) -> T:
    """A struct whose fields are read from the members of the same name, by annotation, except those in `others`."""
    build: Callable[..., T] = kind
    read = {name: reader(members.get(name)) for name, reader in _field_readers(kind) if name not in others}
    return build(**read, **others)


@cache
def _field_readers(kind: type[Struct]) -> tuple[tuple[str, Callable[[Json], Any]], ...]:
    stated = kind.__annotations__
    return tuple((name, _READERS[stated[name]]) for name in kind.__struct_fields__ if stated[name] in _READERS)
