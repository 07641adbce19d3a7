"""Bounded JSON parsing, canonical JSON (RFC 8785) and SHA-256 digests of evidence bodies."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

MAX_DEPTH = 256
MAX_BYTES = 16 * 1024 * 1024

_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")
_SAFE_INTEGER = 2**53


class NotJson(ValueError):
    """The bytes are not one JSON text within the caps; the message says which limit or rule was broken."""


class Uncanonicalisable(ValueError):
    """The value has no RFC 8785 form (duplicate keys, lone surrogate, number outside IEEE 754 double)."""


class _DuplicateKey(Uncanonicalisable):
    """An object repeats a key, so its canonical form would depend on the parser."""


def parse_json(data: bytes, *, max_depth: int = MAX_DEPTH, max_bytes: int = MAX_BYTES) -> Json:
    """Parse UTF-8 JSON within depth and size caps; raise NotJson on anything else.

    Python's parser is kept (instead of a faster one) because it neither rounds big integers nor refuses lone
    surrogates, which real servers send. The last of duplicate keys wins, as in JavaScript.
    """
    check_bounds(data, max_depth=max_depth, max_bytes=max_bytes)
    try:
        value: Json = json.loads(data.decode("utf-8"), parse_constant=_reject_constant)
    except (ValueError, RecursionError) as error:
        raise NotJson(f"not JSON: {error}") from error
    return value


def check_bounds(data: bytes, *, max_depth: int = MAX_DEPTH, max_bytes: int = MAX_BYTES) -> None:
    """Raise NotJson when the text is longer or more deeply nested than allowed, without parsing it."""
    if len(data) > max_bytes:
        raise NotJson(f"{len(data)} bytes, at most {max_bytes} expected")
    if data.count(b"[") + data.count(b"{") <= max_depth:
        return
    depth = deepest = 0
    for byte in _STRINGS.sub(b"", data):
        if byte in b"[{":
            depth += 1
            deepest = max(deepest, depth)
        elif byte in b"]}":
            depth -= 1
    if deepest > max_depth:
        raise NotJson(f"nested {deepest} deep, at most {max_depth} expected")


def canonical_json(value: Json) -> bytes:
    """Serialise a value as RFC 8785 canonical JSON; raise Uncanonicalisable where the RFC has no form for it."""
    try:
        return _serialise(value).encode("utf-8")
    except UnicodeEncodeError as error:
        raise Uncanonicalisable("a string holds a lone surrogate") from error


def canonical_digest(data: bytes) -> str | None:
    """SHA-256 of the canonical form of a JSON body, or None when the body is uncanonicalisable."""
    try:
        check_bounds(data)
        value = json.loads(data.decode("utf-8"), object_pairs_hook=_unique, parse_constant=_reject_constant)
        return sha256(canonical_json(value))
    except (ValueError, RecursionError):
        return None


def sha256(data: bytes) -> str:
    """Lower-case hexadecimal SHA-256 of the bytes."""
    return hashlib.sha256(data).hexdigest()


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _DuplicateKey("an object repeats a key")
    return members


def _reject_constant(name: str) -> Json:
    raise ValueError(f"{name} is not a JSON number")


def _serialise(value: Json) -> str:
    match value:
        case None | bool():
            return {None: "null", True: "true", False: "false"}[value]
        case str():
            return _string(value)
        case int() | float():
            return _number(value)
        case Mapping():
            members = sorted(value.items(), key=lambda member: member[0].encode("utf-16-be", "surrogatepass"))
            return "{" + ",".join(f"{_string(key)}:{_serialise(item)}" for key, item in members) + "}"
        case _:
            return "[" + ",".join(_serialise(item) for item in value) + "]"


def _string(text: str) -> str:
    if _SURROGATE.search(text):
        raise Uncanonicalisable("a string holds a lone surrogate")
    return json.dumps(text, ensure_ascii=False)


def _number(number: float) -> str:
    """ECMAScript Number::toString, which RFC 8785 section 3.2.2.3 prescribes."""
    if isinstance(number, int):
        if abs(number) > _SAFE_INTEGER and float(number) != number:
            raise Uncanonicalisable(f"{number} is not an IEEE 754 double")
        if abs(number) < 10**21:
            return str(int(float(number)))
    number = float(number)
    if not math.isfinite(number):
        raise Uncanonicalisable("numbers must be finite")
    if number == 0:
        return "0"
    sign = "-" if number < 0 else ""
    mantissa, _, exponent = f"{abs(number)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    fraction = "" if fraction == "0" else fraction
    point = len(whole) + int(exponent or 0)
    digits = (whole + fraction).lstrip("0")
    point -= len(whole + fraction) - len(digits)
    digits = digits.rstrip("0")
    return sign + _place_point(digits, point)


def _place_point(digits: str, point: int) -> str:
    """Write significant digits with the decimal point after position `point`, in ECMAScript's notation."""
    count = len(digits)
    if count <= point <= 21:
        return digits + "0" * (point - count)
    if 0 < point <= 21:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    exponent = point - 1
    tail = f".{digits[1:]}" if count > 1 else ""
    return f"{digits[0]}{tail}e{'+' if exponent > 0 else '-'}{abs(exponent)}"
