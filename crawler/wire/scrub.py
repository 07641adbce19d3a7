"""Secrets out of text that a server wrote, before it is kept."""

from __future__ import annotations

import re
from typing import Final

TAIL: Final = 2048
_MASK: Final = "[removed]"

_NAMED: Final = re.compile(
    r"(?i)([\w.-]{0,40}(?:api[_-]?key|token|secret|passw(?:or)?d|passphrase|credential|authorization|cookie)[\w.-]{0,40}"
    r"[\"']?\s*(?:=|:|\bis\b)\s*)(?:bearer\s+|basic\s+)?(\"[^\"]{0,400}\"|'[^']{0,400}'|[^\s,;\"']+)"
)
_SCHEME: Final = re.compile(r"(?i)\b(bearer|basic)\s+[\w.~+/=-]{8,}")
_USERINFO: Final = re.compile(r"(?i)([a-z][a-z0-9+.-]{0,20}://)[^\s/@]{1,400}@")
_OPAQUE: Final = re.compile(r"\b(?=[A-Za-z_-]{0,64}\d)[A-Za-z0-9_-]{24,}\b")


def scrub(text: str, limit: int = TAIL) -> str:
    """The last `limit` characters with values that look like secrets masked."""
    tail = text[-4 * limit :]
    tail = _USERINFO.sub(rf"\1{_MASK}@", tail)
    tail = _SCHEME.sub(rf"\1 {_MASK}", tail)
    tail = _NAMED.sub(rf"\1{_MASK}", tail)
    return _OPAQUE.sub(_MASK, tail)[-limit:]
