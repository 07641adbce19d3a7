"""Decodes values: the claims of a web token, the text of Base64, the password of `user:password`."""

from __future__ import annotations

import base64
from collections.abc import Iterator

MAX_LENGTH = 16_000
"""Letters of a value that are decoded."""


def decode_value(value: str) -> Iterator[str]:
    """The value, and the texts decoded from it, any of which may show that the value is a placeholder."""
    yield value
    if value.startswith("eyJ") and value.count(".") >= 2:
        if claims := decode_base64(value.split(".")[1]):
            yield claims
        return
    if "=" in value[:-2] and (rest := value.partition("=")[2].strip()):
        yield rest
    if text := decode_base64(value):
        yield text
        if ":" in text:
            yield text.partition(":")[2]


def decode_base64(value: str) -> str | None:
    """The text that the value encodes in either Base64 alphabet; None when it does not encode text."""
    plain = value[:MAX_LENGTH].rstrip("=").replace("-", "+").replace("_", "/")
    if len(plain) < 8 or len(plain) % 4 == 1:
        return None
    try:
        text = base64.b64decode(plain + "=" * (-len(plain) % 4), validate=True).decode("utf-8")
    except ValueError:  # not Base64, or not text
        return None
    return text if all(letter.isprintable() or letter in "\r\n\t" for letter in text) else None
