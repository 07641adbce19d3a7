"""Parses bytes to text, JSON and TOML within bounds: size, depth, number of values, length of dotted keys."""

from __future__ import annotations

import codecs
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NoReturn, TypeAlias

from evidence.canonical import NotJson, check_bounds
from evidence.lockfiles.lockfile import Fault, FaultKind, InvalidLockfile, to_printable_text

Table: TypeAlias = Mapping[str, Any]

MAX_BYTES = 64 * 1024 * 1024
MAX_DEPTH = 128
MAX_VALUES = 4_000_000
"""Commas and opening brackets of one file. The densest 64 MiB of JSON would otherwise take gigabytes."""

MAX_KEY_PARTS = 32
MAX_TOML_NODES = 600_000
"""Tables and parts of dotted keys of one file: the stdlib's reader takes about a kilobyte for each."""

MAX_LINES = 4_000_000
MAX_LINE = 1_000_000

_EMPTY: Final[Table] = {}

# The stdlib's reader of TOML takes time and memory quadratic in the parts of one dotted key.
_ATOM = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?<![A-Za-z0-9_-]){_ATOM}(?:[ \t]*+\.[ \t]*+{_ATOM}){{{MAX_KEY_PARTS}}}")
_TOML_STRING = re.compile(r"""("(?:[^"\\\n]++|\\.)*+"?|'[^'\n]*+'?)""")
_TOML_NODE = re.compile(r"\.|^[ \t]*+\[|=[ \t]*+[\[{]", re.MULTILINE)
_TOML_POSITION = re.compile(r"\(at (?:line (\d+), column (\d+)|end of document)\)$")

# Extensions of relaxed JSON: comments and trailing commas; an unterminated comment extends to the end.
_RELAXED = re.compile(r'"(?:[^"\\]++|\\.)*+"?|//[^\n]*+|/\*(?:[^*]++|\*(?!/))*+(?:\*/)?|,(?=\s*+[}\]])', re.DOTALL)
_LINE = re.compile(r"[^\n]+")

_CONFLICT = re.compile(r"^(?:<{7}|>{7}|\|{7})(?: |$)", re.MULTILINE)


class _Duplicate(ValueError):
    """An object repeats a key."""


def check_size(data: bytes) -> None:
    """Raise InvalidLockfile when the file is too large."""
    if len(data) > MAX_BYTES:
        raise InvalidLockfile(FaultKind.TOO_LARGE, f"more than {MAX_BYTES} bytes")


def decode_text(data: bytes) -> str:
    """Text in UTF-8, or in UTF-16 with a byte order mark; raise InvalidLockfile on anything else."""
    encoding = "utf-16" if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line, column = before.count(b"\n") + 1, error.start - before.rfind(b"\n")
        raise InvalidLockfile(
            FaultKind.ENCODING, f"not {encoding.removesuffix('-sig')}: {error.reason}", line, column
        ) from error
    return text.replace("\r\n", "\n") if "\r" in text else text


def decode_generated_text(data: bytes) -> str:
    """Text that a tool wrote line by line; raise InvalidLockfile on overlong lines and on merge conflict markers."""
    text = decode_text(data)
    if text.count("\n") > MAX_LINES:
        raise InvalidLockfile(FaultKind.TOO_LARGE, f"more than {MAX_LINES} lines")
    if max(map(len, iterate_lines(text))) > MAX_LINE:
        raise InvalidLockfile(FaultKind.TOO_LARGE, f"a line of more than {MAX_LINE} characters")
    if (mark := _CONFLICT.search(text)) is not None:
        raise InvalidLockfile(
            FaultKind.SYNTAX, "an unresolved merge conflict", text.count("\n", 0, mark.start()) + 1, 1
        )
    return text


def iterate_lines(text: str) -> Iterator[str]:
    r"""The lines of a text as in `text.split("\n")`, one at a time, because a list takes three times the memory of the
    text.
    """
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end]
        start = end + 1
    yield text[start:]


def find_unfinished_end(text: str) -> Iterator[Fault]:
    """A fault when the last line has no newline: every tool writes one, so the file may be truncated."""
    if text and not text.endswith("\n"):
        yield Fault(FaultKind.TRUNCATED, "the last line has no end", text.count("\n") + 1)


def read_json(data: bytes, *, relaxed: bool = False) -> Table:
    """One JSON object without duplicate keys; `relaxed` allows comments and trailing commas. Raise InvalidLockfile."""
    text = decode_text(data)
    if not text.strip():
        raise InvalidLockfile(FaultKind.EMPTY, "the file is empty, expected a JSON object", 1, 1)
    if relaxed:
        text = _RELAXED.sub(_strict, text)
    if text.count(",") + text.count("[") + text.count("{") > MAX_VALUES:
        raise InvalidLockfile(FaultKind.TOO_LARGE, f"more than {MAX_VALUES} values")
    try:
        check_bounds(text.encode("utf-8", "surrogatepass"), max_depth=MAX_DEPTH, max_bytes=2 * MAX_BYTES)
    except NotJson as error:
        raise InvalidLockfile(FaultKind.TOO_DEEP, str(error)) from error
    try:
        value = json.loads(text, object_pairs_hook=_object, parse_constant=_no_constant, parse_int=str, parse_float=str)
    except json.JSONDecodeError as error:
        kind = FaultKind.TRUNCATED if error.pos >= len(text.rstrip()) - 1 else FaultKind.SYNTAX
        raise InvalidLockfile(kind, f"not JSON: {error.msg}", error.lineno, error.colno) from error
    except _Duplicate as error:
        key = str(error)
        raise InvalidLockfile(
            FaultKind.DUPLICATE_KEY, f"a key occurs twice: {to_printable_text(key)!r}", *_last(text, key)
        ) from error
    except (ValueError, RecursionError) as error:
        raise InvalidLockfile(FaultKind.SYNTAX, f"not JSON: {to_printable_text(str(error))}") from error
    if not isinstance(value, dict):
        raise InvalidLockfile(FaultKind.SHAPE, f"expected an object, found {type(value).__name__}", 1, 1)
    return value


def read_toml(data: bytes) -> Table:
    """One TOML document; raise InvalidLockfile."""
    text = decode_generated_text(data)
    if text.count(",") + text.count("=") + text.count("[") > MAX_VALUES:
        raise InvalidLockfile(FaultKind.TOO_LARGE, f"more than {MAX_VALUES} values")
    if sum(1 for _ in _TOML_NODE.finditer(_TOML_STRING.sub('""', text))) > MAX_TOML_NODES:
        raise InvalidLockfile(FaultKind.TOO_LARGE, f"more than {MAX_TOML_NODES} tables and parts of keys")
    if (key := _LONG_KEY.search(text)) is not None:
        line = text.count("\n", 0, key.start()) + 1
        raise InvalidLockfile(FaultKind.TOO_DEEP, f"a dotted key of more than {MAX_KEY_PARTS} parts", line)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _toml_fault(text, str(error)) from error
    except RecursionError as error:
        raise InvalidLockfile(FaultKind.TOO_DEEP, "values are nested too deep") from error
    except ValueError as error:
        raise InvalidLockfile(FaultKind.SYNTAX, f"not TOML: {to_printable_text(str(error))}") from error


def read_table(parent: Table, key: str) -> Table:
    """The object at a key, empty when missing; raise InvalidLockfile for another value."""
    value = parent.get(key)
    if value is None or value == "":
        return _EMPTY
    if not isinstance(value, Mapping):
        _misshapen(key, "a table", value)
    return value


def read_tables(parent: Table, key: str) -> Sequence[Any]:
    """The list at a key, empty when missing; raise InvalidLockfile for another value."""
    value = parent.get(key)
    if value is None:
        return ()
    if not isinstance(value, list):
        _misshapen(key, "a list", value)
    return value


def read_rows(parent: Table, key: str) -> list[Table]:
    """The tables of a list at a key, empty when missing; raise InvalidLockfile for another value."""
    found = read_tables(parent, key)
    for value in found:
        if not isinstance(value, Mapping):
            _misshapen(key, "tables", value)
    return list(found)


def string_or_empty(value: Any) -> str:
    return value if isinstance(value, str) else ""


def read_strings(parent: Any, key: str) -> list[str]:
    """The keys of an object or the strings of a list at a key of an entry; empty for other values."""
    value = parent.get(key) if isinstance(parent, Mapping) else None
    return [item for item in value if isinstance(item, str)] if isinstance(value, Mapping | list) else []


def build_entry_fault(name: object, expected: str) -> Fault:
    """The fault of one invalid entry."""
    return Fault(FaultKind.ENTRY, f"entry {to_printable_text(str(name))!r}: {expected}")


def find_missing_packages(names: Iterable[str]) -> Iterator[Fault]:
    """A fault when the file depends on packages that it does not contain, as in a truncated file."""
    wanted = sorted(names)
    if wanted:
        more = f" and {len(wanted) - 3} more" if len(wanted) > 3 else ""
        first = ", ".join(to_printable_text(name) for name in wanted[:3])
        yield Fault(FaultKind.MISSING, f"depends on what is not in the file: {first}{more}")


def _misshapen(key: str, expected: str, value: object) -> NoReturn:
    raise InvalidLockfile(FaultKind.SHAPE, f"expected {expected} at {key!r}, found {type(value).__name__}")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        seen: set[str] = set()
        raise _Duplicate(next(key for key, _ in pairs if key in seen or seen.add(key)))  # type: ignore[func-returns-value]
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _strict(part: re.Match[str]) -> str:
    """The text with comments and trailing commas replaced by spaces, so that positions stay the same."""
    found = part.group()
    return found if found.startswith('"') else _LINE.sub(lambda line: " " * len(line.group()), found)


def _last(text: str, key: str) -> tuple[int | None, int | None]:
    """Line and column of the last occurrence of a duplicate key."""
    at = text.rfind(json.dumps(key, ensure_ascii=False))
    return (None, None) if at < 0 else (text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at))


def _toml_fault(text: str, message: str) -> InvalidLockfile:
    position = _TOML_POSITION.search(message)
    what = f"not TOML: {to_printable_text(message[: position.start()].strip() if position else message)}"
    if position is None or position.group(1) is None:
        return InvalidLockfile(FaultKind.TRUNCATED, what, text.count("\n") + 1)
    return InvalidLockfile(FaultKind.SYNTAX, what, int(position.group(1)), int(position.group(2)))
