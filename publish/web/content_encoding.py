"""Content encoding: negotiation and compression."""

from __future__ import annotations

import gzip
from typing import Final

from evidence.zstd import compress as compress_zstd

IDENTITY: Final = "identity"
MIN_BYTES: Final = 500
"""Bytes below which a body is sent as it is."""

_COMPRESSED: Final = ("zstd", "gzip")
"""In the order in which they are chosen."""

_TEXTS: Final = ("text/", "application/json", "application/problem+json", "application/xml", "image/svg+xml")


def choose_encoding(accepted: str) -> str:
    """The coding for an Accept-Encoding; a weight of 0 refuses one, and `*` stands for those that are not named."""
    weights: dict[str, float] = {}
    for part in accepted.lower().split(","):
        name, _, rest = part.strip().partition(";")
        weights[name.strip()] = _weight(rest)
    usable = [(weights.get(name, weights.get("*", 0.0)), name) for name in _COMPRESSED]
    best = max(weight for weight, _ in usable)
    return next(name for weight, name in usable if weight == best) if best > 0 else IDENTITY


def encode_body(body: bytes, coding: str) -> bytes:
    """The body in a coding, on one machine always the same bytes for the same body."""
    if coding == "zstd":
        return compress_zstd(body, level=3)
    if coding == "gzip":
        return gzip.compress(body, compresslevel=4, mtime=0)
    return body


def is_text_type(media_type: str) -> bool:
    """Whether compressing bodies of a type is worth it. Streams of events are never held back."""
    return media_type.startswith(_TEXTS) and not media_type.startswith("text/event-stream")


def _weight(parameters: str) -> float:
    name, _, value = parameters.strip().partition("=")
    if name.strip() != "q":
        return 1.0
    try:
        return float(value)
    except ValueError:
        return 0.0
