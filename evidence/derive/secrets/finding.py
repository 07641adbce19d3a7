"""A secret that was found: its place, its salted hash and its masked context."""

from __future__ import annotations

import hashlib
import hmac
import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import islice
from operator import itemgetter
from typing import Final

from msgspec import Struct

from evidence.kinds.secrets import Discount

MASK: Final = "[secret]"

_BEFORE: Final = 60
_AFTER: Final = 20
_LONG: Final = re.compile(r"[A-Za-z0-9+/=_\-.!@#%^&*~]{12,}")
_NAME: Final = re.compile(r"[A-Z_\-]+|[a-z_\-.]+|(?:[A-Z]?[a-z]{2,}+)++")


class Finding(Struct, frozen=True, kw_only=True):
    """A match of a pattern. `line` counts from 1; 0 for a rule that matches the path alone.

    `digest` is the HMAC-SHA256 of the secret under the caller's salt: equal digests mean equal secrets. `context` is a
    part
    of the line with every possible secret masked. A `generic` finding has no known provider.
    """

    pattern: str
    provider: str
    title: str
    path: str
    line: int
    digest: str
    context: str
    generic: bool = False
    discount: Discount | None = None

    @property
    def counts(self) -> bool:
        """Whether the finding may cost points."""
        return self.discount is None


class Lines:
    """Line numbers of positions that are requested in rising order."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0
        self._line = 1

    def at(self, place: int) -> int:
        self._line += self._data.count(b"\n", self._at, place)
        self._at = place
        return self._line


def digest_secret(secret: bytes, salt: bytes) -> str:
    """The salted hash of a secret, 64 hexadecimal digits. Raise ValueError for an empty salt."""
    if not salt:
        raise ValueError("expected a salt; a hash without one can be looked up")
    return hmac.new(salt, secret, hashlib.sha256).hexdigest()


def mask_context(text: bytes, span: tuple[int, int], secrets: Sequence[tuple[int, int]]) -> str:
    """A part of the line around a secret with all `secrets` masked; these spans are sorted and do not overlap."""
    start, end = span
    left = max(text.rfind(b"\n", 0, start) + 1, start - _BEFORE)
    right = min(_line_end(text, end), end + _AFTER)
    parts, at = [], left
    for first, last in islice(secrets, bisect_right(secrets, left, key=itemgetter(1)), None):
        if first >= right:
            break
        parts += [_plain(text[at : max(at, first)]), MASK]
        at = max(at, last)
    parts.append(_plain(text[at:right]))
    return "".join(parts).replace(MASK + MASK, MASK).strip()


def _line_end(text: bytes, start: int) -> int:
    found = text.find(b"\n", start, start + _AFTER)
    return found if found >= 0 else len(text)


def _plain(part: bytes) -> str:
    """The text with long words masked, except names."""
    text = part.decode("utf-8", "replace").replace("\r", " ").replace("\n", " ")
    return _LONG.sub(lambda run: run[0] if _NAME.fullmatch(run[0]) else "…", text)
