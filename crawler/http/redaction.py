"""Removes the credentials that we sent from responses, before they are parsed or stored.

A server may echo a credential in a header, an error, a tool's description or a stream. Each credential is searched as
it was sent and in the spellings of text formats: JSON and URL escapes, HTML references, and Base64.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from typing import Final

MASK: Final = "[credential]"
MIN_SECRET_LENGTH: Final = 8  # characters; a shorter value could also be ordinary text

_MASK: Final = MASK.encode()
_ESCAPES: Final = rb"\\{0,8}"  # JSON within JSON escapes its escapes
_NAMED: Final = {"&": (b"amp",), "<": (b"lt",), ">": (b"gt",), '"': (b"quot",), "'": (b"apos",)}


class Redaction:
    """Replaces every spelling of the given secrets. `repr` does not show them.

    No secret contains a backslash: `crawler.http.credentials` refuses it, since it is ambiguous among escapes.
    """

    __slots__ = ("_pattern",)

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        known = sorted({secret for secret in secrets if secret}, key=lambda secret: (-len(secret), secret))
        spellings = [spelling for secret in known for spelling in _spellings(secret)]
        self._pattern = re.compile(b"|".join(spellings)) if spellings else None

    def __bool__(self) -> bool:
        return self._pattern is not None

    def __repr__(self) -> str:
        return f"Redaction({'***' if self else ''})"

    def clean(self, data: bytes) -> bytes:
        """The data with every secret replaced by MASK."""
        return self._pattern.sub(_MASK, data) if self._pattern else data

    def clean_text(self, text: str) -> str:
        if self._pattern is None:
            return text
        return self.clean(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def clean_headers(self, headers: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        """The names and values of headers with every secret replaced by MASK."""
        if self._pattern is None:
            return tuple(headers)
        return tuple((self.clean_text(name), self.clean_text(value)) for name, value in headers)

    def stream(self) -> RedactionStream:
        """A redaction of data that arrives in pieces."""
        return RedactionStream(self)


class RedactionStream:
    """Redacts data that arrives in pieces. Holds back an unfinished line, since a piece may end within a secret.

    No header value contains a line end, so no secret does; and each event of an event stream ends with one.
    """

    __slots__ = ("_held", "_redaction")

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction
        self._held: list[bytes] = []

    def feed(self, piece: bytes) -> bytes:
        """The redacted data up to the last line end; may be empty."""
        if not self._redaction:
            return piece
        end = max(piece.rfind(b"\n"), piece.rfind(b"\r")) + 1
        if not end:
            self._held.append(piece)
            return b""
        whole = b"".join((*self._held, piece[:end]))
        self._held = [piece[end:]]
        return self._redaction.clean(whole)

    def finish(self) -> bytes:
        rest, self._held = b"".join(self._held), []
        return self._redaction.clean(rest)


def _spellings(secret: str) -> Iterable[bytes]:
    yield b"".join(_letter(letter) for letter in secret)
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        yield re.escape(encode(secret.encode("utf-8")).rstrip(b"="))


def _letter(letter: str) -> bytes:
    """A pattern for one letter of a secret, plain and in the spellings of text formats."""
    escapes = _ESCAPES if letter in '"/' else b""
    return b"(?:%s%s|%s)" % (escapes, re.escape(letter.encode("utf-8")), _references(letter))


def _references(letter: str) -> bytes:
    code, raw = ord(letter), letter.encode("utf-8")
    spellings = [
        b"".join(b"%(?:25){0,2}" + _hexadecimal(byte, 2) for byte in raw),
        _ESCAPES + b"\\\\u" + _hexadecimal(code, 4),
        b"&#x0{0,6}" + _hexadecimal(code, 1) + b";",
        b"&#0{0,6}%d;" % code,
        *(b"&%s;" % name for name in _NAMED.get(letter, ())),
    ]
    return b"|".join(spellings)


def _hexadecimal(number: int, width: int) -> bytes:
    """A pattern for the hexadecimal digits of a number in either case."""
    digits = f"{number:0{width}x}"
    return "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in digits).encode()
