"""JavaScript semantics of JSON values, for methodologies whose reference is written in JavaScript."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from typing import Final

import orjson

from evidence.canonical import Json, canonical_json
from evidence.compiled_on_use import compile_on_use
from evidence.kinds.listing import UNDEFINED, Undefined

# ECMA-262 WhiteSpace and LineTerminator. Python's own strip() knows U+0085 and U+001C..1F, and does not know U+FEFF.
WHITESPACE: Final = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)

# A number that JSON.stringify may print differently from Python: a fraction, an exponent, beyond 2**53.
_ODD_NUMBER = compile_on_use(r"(?:^|[:,\[])-?(?:Infinity|\d{16}|\d+[.eE])")
_ODD_DIGITS = compile_on_use(rb"[0-9](?:[.eE]|[0-9]{15})")  # such a number holds this, which is found much sooner
_STRINGIFY = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
_ASTRAL = compile_on_use("[\U00010000-\U0010ffff]")
_INDEX = compile_on_use(r"0|[1-9][0-9]{0,9}")
_MAX_INDEX: Final = 2**32 - 1
_LONE_SURROGATE = compile_on_use("[\ud800-\udfff]")


def utf16_length(text: str) -> int:
    """`text.length`: UTF-16 code units, so that an emoji counts 2."""
    return len(text) if text.isascii() else len(text) + len(_ASTRAL.findall(text))


def trim_whitespace(text: str) -> str:
    """`text.trim()`."""
    return text.strip(WHITESPACE)


def is_truthy(value: Json | Undefined) -> bool:
    """`Boolean(value)`: empty lists and objects are true; `undefined`, null, 0 and the empty string are not."""
    if value is UNDEFINED:
        return False
    return isinstance(value, (list, dict)) or bool(value)


def is_object(value: Json | Undefined) -> bool:
    """`typeof value === "object" && value !== null`, which is true of a list."""
    return isinstance(value, (list, dict))


def object_entries(value: Json | Undefined) -> Mapping[str, Json]:
    """`Object.entries(value)`: the keys of a list are its indices; other values have none."""
    if isinstance(value, dict):
        return value
    if isinstance(value, list):
        return {str(index): item for index, item in enumerate(value)}
    return {}


def object_keys(value: Json | Undefined) -> list[str]:
    """`Object.keys(value)`: integers first in ascending order, then the other keys in document order."""
    names = list(object_entries(value))
    numbers = [name for name in names if _INDEX.fullmatch(name) and int(name) < _MAX_INDEX]
    return sorted(numbers, key=int) + [name for name in names if name not in set(numbers)] if numbers else names


def compile_pattern(text: str) -> re.Pattern[str]:
    r"""A case-insensitive pattern in which `\b`, `\w`, `\d` are ASCII and `\s` is JavaScript's white space."""
    return compile_on_use(text.replace(r"\s", f"[{WHITESPACE}]"), re.ASCII | re.IGNORECASE)


def stringified_length(value: Json | Undefined) -> int:
    """`String(JSON.stringify(value)).length`: UTF-16 code units, `undefined` counts as its nine letters."""
    if value is UNDEFINED:
        return len("undefined")
    plain = _plainly(value)
    if plain.isascii() and plain and not _ODD_DIGITS.search(plain):
        return len(plain)
    text = _STRINGIFY(value)
    if _ODD_NUMBER.search(text):
        text = _STRINGIFY(_with_plain_numbers(value))
    surrogates = 0 if text.isascii() else len(_LONE_SURROGATE.findall(text))
    return utf16_length(text) + 5 * surrogates  # a lone surrogate is printed as \udXXX


def _plainly(value: Json) -> bytes:
    """The value as compact JSON from the fast encoder; empty when that encoder refuses it."""
    try:
        return orjson.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return b""


def _with_plain_numbers(value: Json) -> Json:
    """The value with every number replaced by an integer that prints as many characters as JavaScript would."""
    if isinstance(value, dict):
        return {key: _with_plain_numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_plain_numbers(item) for item in value]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    return int("1" * len(_number(value)))


def _number(value: float) -> str:
    try:
        double = float(value)
    except OverflowError:
        return "null"
    return canonical_json(double).decode() if math.isfinite(double) else "null"
