"""Templates of sample secrets. Samples are generated when they are used, so no file contains a whole token.

`<w36>` stands for 36 letters and digits that look random but are always the same; the letter names the alphabet.
`<x36>` is a row of one letter and `<u>` a UUID. `«x»` stands for the Base64 of x.
"""

from __future__ import annotations

import base64
import hashlib
import re
import string
from collections.abc import Iterator
from itertools import count
from typing import Final

_FIELD: Final = re.compile(r"<([a-zA-Z])(\d*)>")
_ENCODED: Final = re.compile("«([^«»]*)»")
_ALPHABETS: Final = {
    "w": string.ascii_letters + string.digits,
    "h": string.digits + "abcdef",
    "H": string.digits + "ABCDEF",
    "a": string.ascii_lowercase + string.digits,
    "A": string.ascii_uppercase + string.digits,
    "B": string.ascii_uppercase + "234567",
    "b": string.ascii_letters + string.digits + "+/",
    "s": string.ascii_letters + string.digits + "_-",
    "d": string.digits,
    "l": string.ascii_lowercase,
    "L": string.ascii_uppercase,
    "t": string.ascii_lowercase + "234567",
    "c": "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
    "m": string.ascii_letters,
    "k": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
}
_UUID: Final = "<h8>-<h4>-4<h3>-a<h3>-<h12>"


def write_sample(template: str, seed: str = "") -> str:
    """The sample of a template; another seed gives another sample."""
    template = template.replace("<u>", _UUID)
    fields = count()

    def filled(field: re.Match[str]) -> str:
        kind, length = field[1], int(field[2] or 1)
        if kind == "x":
            return "x" * length
        return _letters(_ALPHABETS[kind], length, f"{seed}:{template}:{next(fields)}")

    text = _FIELD.sub(filled, template)
    while (encoded := _ENCODED.sub(lambda part: base64.b64encode(part[1].encode()).decode(), text)) != text:
        text = encoded
    return text


def _letters(alphabet: str, length: int, seed: str) -> str:
    """`length` letters, of which the outer ones are never punctuation."""
    plain = [letter for letter in alphabet if letter.isalnum()]
    stream = _stream(seed)
    drawn = [alphabet[next(stream) % len(alphabet)] for _ in range(length)]
    for end in {0, length - 1}:
        drawn[end] = plain[next(stream) % len(plain)]
    return "".join(drawn)


def _stream(seed: str) -> Iterator[int]:
    for block in count():
        yield from hashlib.sha256(f"{seed}:{block}".encode()).digest()
