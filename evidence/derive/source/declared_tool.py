"""Tools declared in source: Tool, Value, UNKNOWN, and the bounds on their size."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final, TypeAlias

from msgspec import Struct

from evidence.canonical import Json

MAX_TOOLS: Final = 500
MAX_NAME: Final = 256
MAX_DESCRIPTION: Final = 20_000
MAX_SCHEMA: Final = 64 * 1024
MAX_STEPS: Final = 40
"""References, calls and levels that are followed for one value."""

MAX_EXPRESSIONS: Final = 500_000
"""Expressions that are evaluated for all tools of one server."""

MAX_OF_PART: Final = 10_000
"""Expressions that are evaluated for one name, description or schema."""


class UnknownValue(Enum):
    """A value that the text alone does not determine."""

    UNKNOWN = "unknown"


UNKNOWN: Final = UnknownValue.UNKNOWN

Value: TypeAlias = "Json | UnknownValue"


class Budget:
    """Bounds the expressions that are evaluated for one server: constants made of constants double with each level."""

    def __init__(self) -> None:
        self._left = MAX_EXPRESSIONS
        self._part = MAX_OF_PART

    def begin(self) -> None:
        """Begin another part. Each part has its own budget within that of the server."""
        self._left -= MAX_OF_PART - self._part
        self._part = MAX_OF_PART

    def take(self) -> bool:
        """Count one expression; False when the budget is spent."""
        self._part -= 1
        return self._part >= 0 and self._left - (MAX_OF_PART - self._part) >= 0


class Tool(Struct, frozen=True, kw_only=True):
    """A tool that code declares; None is a value that the text does not determine. `line` counts from 1."""

    name: str
    description: str | None
    input: Mapping[str, Json] | None
    annotations: Mapping[str, Json] | None
    path: str
    line: int
    by: str


def text_or_none(value: Value, limit: int = MAX_DESCRIPTION) -> str | None:
    """A string, cut to `limit`; None for any other value."""
    return value[:limit] if isinstance(value, str) else None


def object_or_none(value: Value) -> dict[str, Json] | None:
    """An object of bounded size; None for any other value."""
    return value if isinstance(value, dict) and _fits(value) else None


def name_or_none(value: Value) -> str | None:
    """A valid tool name; None for any other value."""
    return value if isinstance(value, str) and 0 < len(value) <= MAX_NAME and value.isprintable() else None


def _fits(value: Json) -> bool:
    """Whether the serialised value would be small; shared parts count each time."""
    size, rest = 0, [value]
    while rest and size <= MAX_SCHEMA:
        one = rest.pop()
        if isinstance(one, str):
            size += len(one)
        elif isinstance(one, list):
            rest += one
        elif isinstance(one, dict):
            size += sum(map(len, one))
            rest += one.values()
        size += 1
    return size <= MAX_SCHEMA
