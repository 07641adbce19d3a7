"""How a setting is read, from the text of a variable or from a value given in code.

The annotation of its field says all: `Annotated[TYPE, msgspec.Meta(BOUNDS), FUNCTION, "MEANING"]`. The function, where
there is one, makes the value from what is given. Else the type says how text is read; a tuple is a list in JSON.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime, time, timedelta
from typing import Any, Final, TypeVar, get_args

import msgspec
from msgspec import inspect

T = TypeVar("T")

_SWITCHES: Final = dict.fromkeys(("1", "true", "t", "yes", "y", "on"), True) | dict.fromkeys(
    ("0", "false", "f", "no", "n", "off"), False
)

# What msgspec does not read: a clock, and weeks of ISO 8601.
_DURATIONS: Final = (
    re.compile(r"(?P<hours>[0-9]+):(?P<minutes>[0-9]{2})(?::(?P<seconds>[0-9]{2}(?:\.[0-9]+)?))?"),
    re.compile(r"P(?P<weeks>[0-9]+)W"),
)


def read_value(annotation: Any, given: object) -> object:
    """The value of a setting; raise ValueError that says what is expected, and what was found if it holds no secret."""
    function = next((note for note in get_args(annotation)[1:] if callable(note)), None)
    if function is not None:
        return function(given)
    kind = _find_kind(annotation)
    read, _ = _KINDS.get(type(kind), (str, ""))
    try:
        value = read(given) if isinstance(given, str) else given
        return msgspec.convert(value, annotation, strict=False, dec_hook=construct)
    except (ValueError, OverflowError) as error:
        expected = _describe(kind)
        raise ValueError(f"expected {expected}, found {given!r:.80}" if expected else str(error)) from None


def read_meaning(annotation: Any) -> str:
    """What a setting means."""
    return "".join(note for note in get_args(annotation)[1:] if isinstance(note, str))


def construct(kind: type[T], given: object) -> T:
    """A value of one of our own types, or a path, from text; a value of that type as it is."""
    if isinstance(given, kind):
        return given
    if not isinstance(given, str):
        raise ValueError(f"expected text, found {type(given).__name__}")
    return kind(given)  # type: ignore[call-arg]


def split_list(given: object) -> tuple[Any, ...]:
    """The parts of a text with commas; a list given in code as it is."""
    if isinstance(given, str):
        return tuple(part.strip() for part in given.split(",") if part.strip())
    return msgspec.convert(given, tuple[Any, ...])


def read_list(given: object) -> tuple[str, ...]:
    """The texts of a list in JSON, or of one given in code."""
    return msgspec.convert(_read_json(given) if isinstance(given, str) else given, tuple[str, ...])


def _find_kind(annotation: Any) -> inspect.Type:
    """The type of an annotation, of which None may be an alternative."""
    kind = inspect.type_info(annotation)
    return kind.types[0] if isinstance(kind, inspect.UnionType) else kind


def _read_number(text: str) -> str:
    return text.strip().replace("_", "")


def _read_switch(text: str) -> bool | str:
    return _SWITCHES.get(text.strip().lower(), text)


def _read_duration(text: str) -> timedelta | str:
    for pattern in _DURATIONS:
        if found := pattern.fullmatch(text.strip()):
            return timedelta(**{unit: float(amount) for unit, amount in found.groupdict("0").items()})
    return _read_number(text)


def _read_date(text: str) -> datetime:
    date = datetime.fromisoformat(text.strip())
    if date.tzinfo is None:
        raise ValueError("no time zone")
    return date


def _read_json(text: str) -> object:
    try:
        return msgspec.json.decode(text)
    except msgspec.DecodeError as error:
        raise ValueError(f"expected a list in JSON; {error}") from None


_KINDS: Final[Mapping[type[inspect.Type], tuple[Callable[[str], object], str]]] = {
    inspect.IntType: (_read_number, "a whole number"),
    inspect.FloatType: (_read_number, "a number"),
    inspect.BoolType: (_read_switch, "`true` or `false`"),
    inspect.TimeDeltaType: (_read_duration, "seconds (`90`) or a duration of ISO 8601 (`PT1M30S`)"),
    inspect.TimeType: (time.fromisoformat, "a time of day (`03:00`)"),
    inspect.DateTimeType: (_read_date, "a date with time and zone (`2026-01-31T03:00:00Z`)"),
    inspect.VarTupleType: (_read_json, ""),
}
"""How the text of each type is read, and what is expected of it."""


def _describe(kind: inspect.Type) -> str:
    """What is expected; empty for what may hold a secret, and where the error explains it better."""
    if isinstance(kind, inspect.LiteralType):
        return " or ".join(f"`{value}`" for value in kind.values)
    if isinstance(kind, inspect.StrType):
        return f"text that matches `{kind.pattern}`"
    _, expected = _KINDS.get(type(kind), (str, ""))
    if isinstance(kind, inspect.IntType | inspect.FloatType):
        bounds = {"greater than": kind.gt, "at least": kind.ge, "at most": kind.le}
        expected += "".join(f", {word} {bound:g}" for word, bound in bounds.items() if bound is not None)
    return expected
