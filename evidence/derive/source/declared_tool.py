"""The nouns of tools in source: Tool, Value, UNKNOWN, and the bounds on what is kept of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final, TypeAlias

from evidence.canonical import Json

MAX_TOOLS: Final = 500
MAX_NAME: Final = 256
MAX_DESCRIPTION: Final = 20_000
MAX_SCHEMA: Final = 64 * 1024
MAX_STEPS: Final = 40
"""How many references, calls and levels are followed for one value."""

MAX_EXPRESSIONS: Final = 500_000
"""Looked at for all tools of one server."""

MAX_OF_PART: Final = 10_000
"""Looked at for one name, description or schema."""


class UnknownValue(Enum):
    """What the text alone does not tell."""

    UNKNOWN = "unknown"


UNKNOWN: Final = UnknownValue.UNKNOWN

Value: TypeAlias = "Json | UnknownValue"
"""A plain value, or UNKNOWN."""


class Budget:
    """How many expressions of one server are looked at: constants made of constants double with each level."""

    def __init__(self) -> None:
        self._left = MAX_EXPRESSIONS
        self._part = MAX_OF_PART

    def begin(self) -> None:
        """Begin another part: what one spends is not missing for the next."""
        self._left -= MAX_OF_PART - self._part
        self._part = MAX_OF_PART

    def take(self) -> bool:
        """Whether one more may be looked at."""
        self._part -= 1
        return self._part >= 0 and self._left - (MAX_OF_PART - self._part) >= 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool as code declares it; None is what cannot be told. `line` counts from 1."""

    name: str
    description: str | None
    input: Mapping[str, Json] | None
    annotations: Mapping[str, Json] | None
    path: str
    line: int
    by: str


def text_or_none(value: Value, limit: int = MAX_DESCRIPTION) -> str | None:
    """A text of bounded length, None for anything else."""
    return value[:limit] if isinstance(value, str) else None


def object_or_none(value: Value) -> dict[str, Json] | None:
    """An object of bounded size, None for anything else."""
    return value if isinstance(value, dict) and _fits(value) else None


def name_or_none(value: Value) -> str | None:
    """The name of a tool, None for what cannot be one."""
    return value if isinstance(value, str) and 0 < len(value) <= MAX_NAME and value.isprintable() else None


def _fits(value: Json) -> bool:
    """Whether a value is small when it is written out; what it shares with itself counts each time."""
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
