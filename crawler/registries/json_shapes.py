"""Describes the shape of a JSON value, and finds the first place where a value does not match it.

The shapes are those that the registry's schemas need: text, flags, arrays, maps, objects and alternatives selected by
a `type` member, nothing recursive. Messages name the path, the expectation and the value, and are the same in every
run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

from msgspec import Struct, field

from evidence.canonical import Json

_EXCERPT: Final = 60
_PATH_STEP: Final = 40

# C0 and C1 controls except tab and line ends, and surrogates: no database column or terminal takes them safely.
_UNPRINTABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


class Mismatch(Struct, frozen=True):
    """A place where a value does not match its shape."""

    path: str
    expected: str
    found: str

    def __str__(self) -> str:
        return f"{self.path or 'entry'}: expected {self.expected}, found {self.found}"


class Text(Struct, frozen=True, kw_only=True):
    """A string without control characters, optionally with a maximum length, a pattern or a list of values."""

    shortest: int = 0
    longest: int | None = None
    pattern: re.Pattern[str] | None = None
    meaning: str = "text"
    choices: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


class Flag(Struct, frozen=True):
    """A boolean."""


class Items(Struct, frozen=True):
    """An array whose elements have one shape."""

    of: Shape


class Values(Struct, frozen=True):
    """An object used as a map whose values have one shape."""

    of: Shape


class Members(Struct, frozen=True, kw_only=True):
    """An object: the shapes of known members, required members, and whether unknown members are refused."""

    known: Mapping[str, Shape] = field(default_factory=dict)
    required: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()
    closed: bool = False


class ByType(Struct, frozen=True):
    """An object whose `type` (or another member) selects its shape."""

    kinds: Mapping[str, Members]
    member: str = "type"


Shape: TypeAlias = Text | Flag | Items | Values | Members | ByType


def find_mismatch(value: Json, shape: Shape, path: str = "") -> Mismatch | None:
    """The first place where the value does not match the shape, or None."""
    match shape:
        case Text():
            return _check_text(value, shape, path)
        case Flag():
            return None if isinstance(value, bool) else Mismatch(path, "true or false", describe_value(value))
        case Items():
            return _check_items(value, shape, path)
        case Values():
            return _check_values(value, shape, path)
        case ByType():
            return _check_by_type(value, shape, path)
        case Members():
            return _check_members(value, shape, path)


def describe_value(value: Json) -> str:
    """A short, printable description of a value for an error message."""
    match value:
        case None | bool():
            return json.dumps(value)
        case str():
            return json.dumps(value[:_EXCERPT]) + (f"... ({len(value)} characters)" if len(value) > _EXCERPT else "")
        case int() | float():
            return "a number"
        case Mapping():
            return f"an object with {len(value)} members"
        case _:
            return f"an array of {len(value)}"


def _check_text(value: Json, shape: Text, path: str) -> Mismatch | None:
    if not isinstance(value, str):
        return Mismatch(path, shape.meaning, describe_value(value))
    expected = _unmet(value, shape)
    return Mismatch(path, expected, describe_value(value)) if expected else None


def _unmet(value: str, shape: Text) -> str | None:
    """The condition that the text does not meet, or None."""
    if shape.longest is not None and len(value) > shape.longest:
        return f"at most {shape.longest} characters"
    expectations = (
        (not shape.choices or value in shape.choices, "one of " + ", ".join(shape.choices)),
        (value not in shape.refused, f"{shape.meaning} other than " + ", ".join(shape.refused)),
        (len(value) >= shape.shortest, f"at least {shape.shortest} characters"),
        (not _UNPRINTABLE.search(value), "no control characters"),
        (shape.pattern is None or shape.pattern.fullmatch(value), shape.meaning),
    )
    return next((expected for met, expected in expectations if not met), None)


def _check_items(value: Json, shape: Items, path: str) -> Mismatch | None:
    if isinstance(value, str) or not isinstance(value, Sequence):
        return Mismatch(path, "an array", describe_value(value))
    found = (find_mismatch(item, shape.of, f"{path}[{index}]") for index, item in enumerate(value))
    return next((mismatch for mismatch in found if mismatch), None)


def _check_values(value: Json, shape: Values, path: str) -> Mismatch | None:
    if not isinstance(value, Mapping):
        return Mismatch(path, "an object", describe_value(value))
    found = (find_mismatch(item, shape.of, _step(path, name)) for name, item in value.items())
    return next((mismatch for mismatch in found if mismatch), None)


def _check_by_type(value: Json, shape: ByType, path: str) -> Mismatch | None:
    if not isinstance(value, Mapping):
        return Mismatch(path, "an object", describe_value(value))
    kind = value.get(shape.member)
    chosen = shape.kinds.get(kind) if isinstance(kind, str) else None
    if chosen is None:
        found = describe_value(kind) if shape.member in value else "none"
        return Mismatch(_step(path, shape.member), "one of " + ", ".join(shape.kinds), found)
    return _check_members(value, chosen, path)


def _check_members(value: Json, shape: Members, path: str) -> Mismatch | None:
    if not isinstance(value, Mapping):
        return Mismatch(path, "an object", describe_value(value))
    for name in shape.required:
        if name not in value:
            return Mismatch(_step(path, name), "this member", "none")
    if shape.one_of and not any(name in value for name in shape.one_of):
        return Mismatch(path, " or ".join(shape.one_of), "neither")
    for name, item in value.items():
        known = shape.known.get(name)
        if known is None and shape.closed:
            return Mismatch(_step(path, name), "no such member", describe_value(item))
        if known is not None and (mismatch := find_mismatch(item, known, _step(path, name))):
            return mismatch
    return None


def _step(path: str, name: str) -> str:
    """The path of a member; an unusual name is quoted and cut."""
    clear = name if name.isidentifier() or name == "$schema" else json.dumps(name[:_PATH_STEP])
    return f"{path}.{clear}" if path else clear
