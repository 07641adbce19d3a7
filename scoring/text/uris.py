"""Syntax of URIs (RFC 3986) and of URI templates (RFC 6570)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from scoring.text.evidence_path import clip_text


class UriFlaw(Struct, frozen=True):
    """A syntax error of a URI. `tolerated`: invalid, but clients read it."""

    message: str
    tolerated: bool = False


_PCHAR: Final = r"(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})"
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_REST = re.compile(
    r"(?://(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2}|\[[0-9A-Za-z:._~!$&'()*+,;=-]+\])*(?=[/?#]|$))?"
    rf"(?:{_PCHAR}|/)*(?:\?(?:{_PCHAR}|[/?])*)?(?:#(?:{_PCHAR}|[/?])*)?"
)
_FOREIGN = re.compile(r"[^\x00-\x7f]")
_LEGAL = re.compile(r"[A-Za-z0-9._~!$&'()*+,;=:@/?#%\[\]-]")

_BASE = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*:)?(?P<host>//[^/?#]*)?(?P<path>[^?#]*)(?P<query>\?[^#]*)?")

_EXPRESSION = re.compile(r"\{([^{}]*)\}")
_LITERALS = re.compile(r"(?:[^\x00-\x20\"%<>\\^`{|}\x7f]|%[0-9A-Fa-f]{2})*")
_VARCHAR: Final = r"(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})"
_VARIABLE = re.compile(rf"{_VARCHAR}(?:\.?{_VARCHAR})*(?:\*|:[1-9][0-9]{{0,3}})?")
_HYPHENATED = re.compile(rf"{_VARCHAR}(?:[.-]?{_VARCHAR})*(?:\*|:[1-9][0-9]{{0,3}})?")
_OPERATORS: Final = "+#./;?&=,!@|"


def find_uri_flaw(text: str) -> UriFlaw | None:
    """The first syntax error of an absolute URI, or None."""
    scheme = _SCHEME.match(text)
    if scheme is None:
        return UriFlaw(f"{_quoted(text)} has no scheme")
    rest = text[scheme.end() :]
    if _REST.fullmatch(rest):
        return None
    if _REST.fullmatch(_FOREIGN.sub("a", rest)):
        return UriFlaw(f"{_quoted(text)} has characters outside ASCII, percent-encoding expected", tolerated=True)
    wrong = next((letter for letter in rest if not _LEGAL.fullmatch(letter)), "")
    return UriFlaw(f"{_quoted(text)} is not a URI" + (f": {_quoted(wrong)} is not allowed" if wrong else ""))


def join_reference(base: str, reference: str) -> str:
    """Resolve a reference against `base` (RFC 3986 5.2.2, without removing `.` and `..`)."""
    found = _BASE.match(base)
    if found is None or _SCHEME.match(reference):
        return reference
    scheme, host, path, query = (part or "" for part in found.group("scheme", "host", "path", "query"))
    if reference.startswith("//"):
        return f"{scheme}{reference}"
    if reference.startswith("/"):
        return f"{scheme}{host}{reference}"
    if reference[:1] in ("", "#"):
        return f"{scheme}{host}{path}{query}{reference}"
    folder = path if reference.startswith("?") else path[: path.rfind("/") + 1] or ("/" if host else "")
    return f"{scheme}{host}{folder}{reference}"


def list_template_flaws(text: str) -> Iterator[UriFlaw]:
    """The syntax errors of a URI template, at most one per part."""
    end = 0
    for match in _EXPRESSION.finditer(text):
        yield from _literal_flaws(text[end : match.start()])
        yield from _expression_flaws(match[1])
        end = match.end()
    yield from _literal_flaws(text[end:])


def _literal_flaws(text: str) -> Iterator[UriFlaw]:
    fits = _LITERALS.match(text)
    end = fits.end() if fits else 0
    if end < len(text):
        brace = text[end] in "{}"
        yield UriFlaw("an unmatched brace" if brace else f"{_quoted(text[end])} is not allowed in a URI template")


def _expression_flaws(text: str) -> Iterator[UriFlaw]:
    names = text[1:] if text[:1] and text[0] in _OPERATORS else text
    for name in names.split(","):
        if _VARIABLE.fullmatch(name):
            continue
        tolerated = _HYPHENATED.fullmatch(name) is not None
        yield UriFlaw(f"{_quoted(name)} is not a variable name of a URI template", tolerated)


def _quoted(text: str) -> str:
    return f'"{clip_text(text, 60)}"'
