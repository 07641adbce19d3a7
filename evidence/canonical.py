"""Bounded JSON parsing, canonical JSON (RFC 8785) and SHA-256 digests of evidence bodies."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import TypeAlias

import orjson

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

MAX_DEPTH = 256
MAX_BYTES = 16 * 1024 * 1024
MAX_DIGITS = 1000
"""Digits of an integer, more than every IEEE 754 double has. The cost of reading one grows with their square."""

_NO_MARKS = bytes(byte for byte in range(256) if byte not in b'[]{}"')
_MARKS = 64 * 1024  # that are split at once: a list of all parts between quotes would take many times the text
# Possessive and with an optional end, so that an unterminated string costs one pass and not one per quote.
_STRINGS = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")
_SAFE_INTEGER = 2**53
_SAFE_DIGITS = len(str(-_SAFE_INTEGER))

# First bytes of four-byte characters, and escaped surrogates. RFC 8785 sorts keys by UTF-16 unit, orjson by code point.
_BEYOND_BMP = (b"\xf0", b"\xf1", b"\xf2", b"\xf3", b"\xf4", b"\\ud", b"\\uD")


_ORJSON_OPTIONS = (
    orjson.OPT_SORT_KEYS
    | orjson.OPT_STRICT_INTEGER
    | orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_DATETIME
    | orjson.OPT_PASSTHROUGH_SUBCLASS
)
_NO_NUMBER = frozenset(b'"tf')
# Where orjson differs from the RFC: fractions, exponents, null for non-finite numbers, and members by code point.
_DOUBTFUL = re.compile(rb"[:\[,](?:-?[0-9]+[.e]|null)")
_FRACTION = re.compile(rb"[:\[,]-?[0-9]+[.e]")
_ASTRAL = re.compile(rb"[\xf0-\xf4]")


class NotJson(ValueError):
    """The bytes are not one JSON text within the caps; the message says which limit or rule was broken."""


class NumberTooLong(NotJson):
    """An integer has more than MAX_DIGITS digits."""


class Uncanonicalisable(ValueError):
    """The value has no RFC 8785 form (duplicate keys, lone surrogate, number outside IEEE 754 double)."""


class _NotPlain(Exception):
    """The text holds numbers that only our own serialiser writes as the RFC requires."""


class _DuplicateKey(Uncanonicalisable):
    """An object repeats a key, so its canonical form would depend on the parser."""


def parse_json(data: bytes, *, max_depth: int = MAX_DEPTH, max_bytes: int = MAX_BYTES) -> Json:
    """Parse UTF-8 JSON within depth and size caps; raise NotJson on anything else.

    Python's parser is used because, unlike faster ones, it neither rounds big integers nor refuses lone surrogates,
    which real servers send. The last of duplicate keys wins, as in JavaScript.
    """
    check_bounds(data, max_depth=max_depth, max_bytes=max_bytes)
    try:
        value: Json = JSON_DECODER.decode(data.decode("utf-8"))
    except NumberTooLong:
        raise
    except (ValueError, RecursionError) as error:
        raise NotJson(f"not JSON: {error}") from error
    return value


def check_bounds(data: bytes, *, max_depth: int = MAX_DEPTH, max_bytes: int = MAX_BYTES) -> None:
    """Raise NotJson when the text is longer or more deeply nested than allowed, without parsing it."""
    if len(data) > max_bytes:
        raise NotJson(f"{len(data)} bytes, at most {max_bytes} expected")
    if data.count(b"[") + data.count(b"{") <= max_depth:
        return
    if b"\\" in data:  # which only strings may hold; what is left of a run of backslashes escapes the next byte
        data = data.replace(rb"\\", b"").replace(rb"\"", b"")
    marks = data.translate(None, _NO_MARKS).replace(b'""', b"")
    depth = is_quoted = 0
    for start in range(0, len(marks), _MARKS):
        parts = marks[start : start + _MARKS].split(b'"')
        for bracket in b"".join(parts[is_quoted::2]):
            depth += 1 if bracket in b"[{" else -1
            if depth > max_depth:
                raise NotJson(f"nested more than {max_depth} deep")
        is_quoted = (is_quoted + len(parts) - 1) % 2


def canonical_json(value: Json) -> bytes:
    """Serialise a value as RFC 8785 canonical JSON; raise Uncanonicalisable where the RFC has no form for it."""
    try:
        plain = orjson.dumps(value, option=_ORJSON_OPTIONS)
    except orjson.JSONEncodeError:
        pass  # a lone surrogate, a large integer, or another mapping or sequence type
    else:
        if plain[0] in _NO_NUMBER or (plain[0] in b"{[" and not _may_differ(plain, value)):
            return plain
    try:
        return _serialise(value).encode("utf-8")
    except UnicodeEncodeError as error:
        raise Uncanonicalisable("a string holds a lone surrogate") from error


def canonical_digest(data: bytes) -> str | None:
    """SHA-256 of the canonical form of a JSON body, or None when the body is uncanonicalisable."""
    try:
        check_bounds(data)
        return sha256(_canonical(data))
    except (ValueError, RecursionError):
        return None


def sha256(data: bytes) -> str:
    """Lower-case hexadecimal SHA-256 of the bytes."""
    return hashlib.sha256(data).hexdigest()


def _canonical(data: bytes) -> bytes:
    """The canonical form of a JSON text. For most texts orjson writes the form that the RFC requires."""
    text = data.decode("utf-8")
    if not any(sign in data for sign in _BEYOND_BMP):
        try:
            return orjson.dumps(_PLAIN.decode(text), option=orjson.OPT_SORT_KEYS)
        except (_NotPlain, orjson.JSONEncodeError):
            pass
    return canonical_json(_UNIQUE.decode(text))


def _may_differ(plain: bytes, value: Json) -> bool:
    """True when orjson's output may differ from the RFC."""
    if not plain.isascii() and _ASTRAL.search(plain):
        return True
    return bool(_DOUBTFUL.search(plain)) and (
        _FRACTION.search(_STRINGS.sub(b"", plain)) is not None or not _is_finite(value)
    )


def _is_finite(value: Json) -> bool:
    """Whether a value has no number that JSON lacks, which orjson writes as null."""
    try:
        json.dumps(value, allow_nan=False)
    except (ValueError, RecursionError):
        return False
    return True


def _plain_integer(digits: str) -> int:
    number = int(digits) if len(digits) <= _SAFE_DIGITS else _SAFE_INTEGER + 1
    if abs(number) > _SAFE_INTEGER:
        raise _NotPlain
    return number


def _not_plain(_number: str) -> float:
    raise _NotPlain


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _DuplicateKey("an object repeats a key")
    return members


def _reject_constant(name: str) -> Json:
    raise ValueError(f"{name} is not a JSON number")


def _integer(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise NumberTooLong(f"a number of more than {MAX_DIGITS} digits")
    return int(digits)


JSON_DECODER = json.JSONDecoder(parse_int=_integer, parse_constant=_reject_constant)
"""Reads JSON texts whose bounds were checked; raises ValueError, NumberTooLong or RecursionError."""

_UNIQUE = json.JSONDecoder(object_pairs_hook=_unique, parse_int=_integer, parse_constant=_reject_constant)
_PLAIN = json.JSONDecoder(
    object_pairs_hook=_unique, parse_float=_not_plain, parse_int=_plain_integer, parse_constant=_reject_constant
)


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
        if abs(number) <= _SAFE_INTEGER:
            return str(number)
        number = _double(number)
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


def _double(integer: int) -> float:
    try:
        number = float(integer)
    except OverflowError as error:
        raise Uncanonicalisable("an integer is greater than every IEEE 754 double") from error
    # Canonical JSON contains the shortest digits of a double, which need not be its exact value.
    if integer not in {int(number), int(Decimal(repr(number)))}:
        raise Uncanonicalisable(f"{integer} is not an IEEE 754 double")
    return number


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
