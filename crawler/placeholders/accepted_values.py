"""Finds the values that a text says are accepted: an error message about a placeholder, or a description of an input.

The text is untrusted: only a bounded number of lines and characters is searched, and a value is passed to the process
that named it only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

MAX_VALUES: Final = 20

_LINES: Final = 300
_LONGEST: Final = 400  # characters of a line
_ANSI: Final = re.compile(r"\x1b\[[0-9;?]{0,20}[A-Za-z]")

_QUOTED: Final = r"(?:'[^'\n]{1,60}'|\"[^\"\n]{1,60}\"|`[^`\n]{1,60}`)"
_VALUE: Final = rf"(?:{_QUOTED}|[A-Za-z0-9][\w.-]{{0,40}})"
_BETWEEN: Final = r"\s?(?:,\s?(?:or |and )?|\||/|\bor )\s?"
_LIST: Final = rf"[\[({{]?\s?({_VALUE}(?:{_BETWEEN}{_VALUE}){{1,{MAX_VALUES - 1}}})"
_QUOTED_LIST: Final = rf"[\[({{]?\s?({_QUOTED}(?:{_BETWEEN}{_QUOTED}){{0,{MAX_VALUES - 1}}})"
_LISTS: Final = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:accepted|allowed|valid|supported|possible|permitted|available)\b[^:\n]{0,60}?(?::|\b(?:are|is)\b:?)\s?"
        + _LIST,
        r"\b(?:choose from|one of|choices(?: are)?|options(?: are)?|either)\b:?\s?" + _LIST,
        r"\b(?:should be|must be|has to be|expected)\b[^'\"`\n]{0,30}" + _QUOTED_LIST,
        r"\(" + _VALUE + r"(?:\s?\|\s?" + _VALUE + r"){1,19}\)",
        r"[(:]\s?(" + _VALUE + r" or " + _VALUE + r")\s?[.)]?$",
    )
)
_EXAMPLE: Final = re.compile(
    rf"\b(?:e\.g\.|for example|example:|such as|default:|defaults? to)[:,]?\s?"
    rf"(?:({_QUOTED})|(\w[\w./:@-]{{0,60}}\w|\w)(?=[.,;)\]]?(?:$|\s*[)\]])))",
    re.IGNORECASE | re.MULTILINE,
)
_NO_NUMBER: Final = re.compile(
    r"could not convert string to float|invalid literal for int\(\)|should be a valid (?:integer|number|boolean)\b"
)
"""How Python and pydantic refuse a text; pydantic takes the number for a truth value too."""
_A_NUMBER: Final = ("1",)
_EACH: Final = re.compile(rf"{_QUOTED}|[A-Za-z0-9][\w.-]{{0,60}}")
_JOINING: Final = frozenset({"or", "and"})
_PREFERRED: Final = ("stdio", "sandbox", "test", "serve", "mcp", "server")
"""Values that need the least: no port, and no real account; and commands that start a server."""


def find_accepted_values(text: str) -> tuple[str, ...]:
    """The values that one line of a text enumerates as accepted, the preferred ones first; empty if no line does."""
    return next((values for line in _lines(text) if (values := _read_values(line))), ())


def find_stated_value(text: str) -> str:
    """A value that a description names: one of an enumeration, a default or an example; empty if it names none."""
    if values := find_accepted_values(text):
        return values[0]
    found = _EXAMPLE.search(text[:_LONGEST])
    return (found[1] or found[2]).strip("'\"`") if found else ""


def find_accepted_for(output: str, name: str, value: str) -> tuple[str, ...]:
    """The values that the lines of an output which name the input `name`, or quote its `value`, state as accepted."""
    named = [line for line in _lines(output) if _mentions(line, name, value)]
    found = (_A_NUMBER if value in line and _NO_NUMBER.search(line) else _read_values(line) for line in named)
    return next((values for values in found if values and value not in values), ())


def _lines(text: str) -> Iterator[str]:
    for line in text.splitlines()[-_LINES:]:
        yield _ANSI.sub("", line[: 2 * _LONGEST])[:_LONGEST].replace("\\", "")


def _read_values(line: str) -> tuple[str, ...]:
    found = next((found for pattern in _LISTS if (found := pattern.search(line))), None)
    if found is None:
        return ()
    words = [word.strip("'\"`").rstrip(".") for word in _EACH.findall(found[1] if found.re.groups else found[0])]
    return _in_order(list(dict.fromkeys(word for word in words if word and word.lower() not in _JOINING)))


def _in_order(values: Sequence[str]) -> tuple[str, ...]:
    rank = {value: place for place, value in enumerate(_PREFERRED)}
    return tuple(sorted(values, key=lambda value: rank.get(value.lower(), len(rank))))[:MAX_VALUES]


def _mentions(line: str, name: str, value: str) -> bool:
    """Whether a line names an input by its name or the last part of it, or quotes its value."""
    parts = [part for part in re.split(r"[^A-Za-z0-9]+", re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name)) if part]
    words = rf"(?<![A-Za-z]){re.escape(parts[-1])}s?(?![A-Za-z])" if parts else r"(?!)"
    quoted = bool(value) and any(f"{mark}{value}{mark}" in line for mark in "'\"`")
    return quoted or re.search(words, line, re.IGNORECASE) is not None
