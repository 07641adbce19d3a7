"""Takes values that we sent in confidence out of everything that comes back, before it is parsed or kept.

A server may echo a credential in a header, an error, a tool's description or a stream. It is looked for as it was sent
and in the spellings that text formats give it: JSON and URL escapes, HTML references, and Base64.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from typing import Final

MASK: Final = "[credential]"
MIN_SECRET_LENGTH: Final = 8  # characters; a shorter value cannot be told from ordinary text

_MASK: Final = MASK.encode()
_ESCAPES: Final = rb"\\{0,8}"  # JSON within JSON escapes its escapes
_NAMED: Final = {"&": (b"amp",), "<": (b"lt",), ">": (b"gt",), '"': (b"quot",), "'": (b"apos",)}


class Redaction:
    """Replaces every spelling of some secrets. Never shows them, in `repr` neither.

    No secret holds a backslash: `crawler.http.credentials` refuses it, since among escapes it has several readings.
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
        """The bytes with every secret replaced."""
        return self._pattern.sub(_MASK, data) if self._pattern else data

    def clean_text(self, text: str) -> str:
        """The text with every secret replaced."""
        if self._pattern is None:
            return text
        return self.clean(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def clean_headers(self, headers: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        """Names and values of headers with every secret replaced."""
        return tuple((self.clean_text(name), self.clean_text(value)) for name, value in headers)

    def stream(self) -> RedactionStream:
        """A cleaner for bytes that come in pieces."""
        return RedactionStream(self)


class RedactionStream:
    """Cleans bytes that come in pieces. Holds back the last line until it ends, since a piece may end in a secret.

    No header value holds a line end, so no secret does; and an event of an event stream is complete at one.
    """

    __slots__ = ("_held", "_redaction")

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction
        self._held: list[bytes] = []

    def feed(self, piece: bytes) -> bytes:
        """What can be released after this piece; maybe nothing."""
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
        """The rest."""
        rest, self._held = b"".join(self._held), []
        return self._redaction.clean(rest)


def _spellings(secret: str) -> Iterable[bytes]:
    yield b"".join(_letter(letter) for letter in secret)
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        yield re.escape(encode(secret.encode("utf-8")).rstrip(b"="))


def _letter(letter: str) -> bytes:
    """One letter of a secret as it is and in each of the spellings that text formats have for it."""
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
    """A pattern for the digits of a number, whatever their case."""
    digits = f"{number:0{width}x}"
    return "".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in digits).encode()
