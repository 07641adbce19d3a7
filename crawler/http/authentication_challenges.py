"""The challenges of WWW-Authenticate headers, read by the grammar of RFC 9110, section 11.

    parse_challenges(['Bearer realm="x, y", scope="read", Basic realm=z', "Negotiate dG9rZW4="])

The parser scans once from left to right, in linear time. Text that breaks the grammar is skipped up to the next comma
outside of quotes, so that one invalid parameter does not hide the other challenges.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

MAX_HEADER_BYTES: Final = 16 * 1024  # for all headers together
MAX_CHALLENGES: Final = 16
MAX_PARAMETERS: Final = 32  # per challenge

_SPACE: Final = re.compile(r"[ \t]*")
_SEPARATORS: Final = re.compile(r"[ \t,]*")
_TOKEN: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_TOKEN68: Final = re.compile(r"[A-Za-z0-9._~+/-]+=*(?=[ \t]*(?:,|\Z))")
_EQUALS: Final = re.compile(r"[ \t]*=[ \t]*")
_PARAMETER: Final = re.compile(_TOKEN.pattern + _EQUALS.pattern)
_QUOTED: Final = re.compile(r'"((?:[^"\\]|\\.)*+)("?)', re.DOTALL)
_BARE: Final = re.compile(r"[^, \t\"]+")  # more than a token: URLs without quotes are common
_PAIR: Final = re.compile(r"\\(.)", re.DOTALL)
_REST: Final = re.compile(r'(?:[^,"]|"(?:[^"\\]|\\.)*+"?)*+', re.DOTALL)


class Challenge(Struct, frozen=True):
    """One challenge. The scheme and parameter names are lower case; the first value of a repeated parameter counts."""

    scheme: str
    token68: str = ""
    parameters: tuple[tuple[str, str], ...] = ()

    def get(self, name: str) -> str | None:
        """The value of a parameter without its quotes and escapes, or None."""
        return next((value for key, value in self.parameters if key == name.lower()), None)


def parse_challenges(values: Sequence[str]) -> tuple[Challenge, ...]:
    """The challenges of all WWW-Authenticate headers of one response, in order, at most MAX_CHALLENGES.

    Each value is one header. Text beyond MAX_HEADER_BYTES is not read. Never raises.
    """
    found: list[Challenge] = []
    left = MAX_HEADER_BYTES
    for value in values:
        for challenge in _scan_challenges(value[:left]):
            found.append(challenge)
            if len(found) == MAX_CHALLENGES:
                return tuple(found)
        left = max(0, left - len(value))
    return tuple(found)


def _scan_challenges(text: str) -> Iterator[Challenge]:
    at = _end(_SEPARATORS, text, 0)
    while at < len(text):
        scheme = _TOKEN.match(text, at)
        if scheme is None or _EQUALS.match(text, scheme.end()):
            # Not a scheme: a parameter without a scheme, or characters that a token cannot contain.
            at = _skip(text, at)
            continue
        challenge, at = _read_challenge(text, scheme[0].lower(), scheme.end())
        yield challenge


def _read_challenge(text: str, scheme: str, at: int) -> tuple[Challenge, int]:
    """Read the challenge whose scheme ends at `at`; also return the position after it."""
    start = _end(_SPACE, text, at)
    parameter = _read_parameter(text, start)
    if parameter is None and start > at and (token := _TOKEN68.match(text, start)):
        return Challenge(scheme, token68=token[0]), _end(_SEPARATORS, text, token.end())
    found: dict[str, str] = {}
    at = start
    while (parameter := _read_parameter(text, at)) is not None:
        name, value, at = parameter
        if len(found) < MAX_PARAMETERS:
            found.setdefault(name, value)
        at = _after_parameter(text, at)
    if at == start and not _ends_item(text, at):
        at = _skip(text, at)
    return Challenge(scheme, parameters=tuple(found.items())), _end(_SEPARATORS, text, at)


def _read_parameter(text: str, at: int) -> tuple[str, str, int] | None:
    """Name, value and end position of the parameter at `at`; None if there is no parameter."""
    name = _TOKEN.match(text, at)
    equals = _EQUALS.match(text, name.end()) if name else None
    if name is None or equals is None:
        return None
    if quoted := _QUOTED.match(text, equals.end()):
        return name[0].lower(), _PAIR.sub(r"\1", quoted[1]), quoted.end()
    bare = _BARE.match(text, equals.end())
    if bare is None or set(bare[0]) == {"="}:
        return None  # `dG9rZW4==` is a token68
    return name[0].lower(), bare[0], bare.end()


def _after_parameter(text: str, at: int) -> int:
    """The start of the next parameter or challenge. Many servers forget the comma between two parameters."""
    spaced = _end(_SPACE, text, at)
    if spaced == at and not _ends_item(text, at):
        spaced = _end(_REST, text, at)
    elif not _ends_item(text, spaced) and not _PARAMETER.match(text, spaced):
        spaced = _end(_REST, text, spaced)
    return _end(_SEPARATORS, text, spaced)


def _ends_item(text: str, at: int) -> bool:
    at = _end(_SPACE, text, at)
    return at >= len(text) or text[at] == ","


def _skip(text: str, at: int) -> int:
    """The start of the next list item."""
    return max(at + 1, _end(_SEPARATORS, text, _end(_REST, text, at)))


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at
