"""Rendered answers, kept while nothing that they show has changed, in bounded memory."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from hashlib import sha256

from publish.site.encoding import IDENTITY, LEAST, encoded

_DIGITS = 32


@dataclass(slots=True)
class Copy:
    """One answer: its headers, its body, and the body in each coding that somebody asked for.

    `route` is what matched the request, for those who count requests by it.
    """

    headers: list[tuple[bytes, bytes]]
    body: bytes
    kept: bool
    route: object = None
    codings: dict[str, bytes] = field(default_factory=dict)
    tag: str = ""

    def __post_init__(self) -> None:
        self.tag = sha256(self.body).hexdigest()[:_DIGITS]

    def coding(self, wanted: str) -> str:
        """The coding in which it is sent."""
        return wanted if len(self.body) >= LEAST else IDENTITY

    def etag(self, coding: str) -> str:
        """Strong, so another one for each coding."""
        return f'"{self.tag}"' if coding == IDENTITY else f'"{self.tag}-{coding}"'

    def body_in(self, coding: str) -> bytes:
        """The body in a coding."""
        if coding == IDENTITY:
            return self.body
        if coding not in self.codings:
            self.codings[coding] = encoded(self.body, coding)
        return self.codings[coding]

    @property
    def size(self) -> int:
        """Bytes that it is counted with: compressed bodies are smaller than half."""
        return 2 * len(self.body) + 1_000


class Shelf:
    """Copies by address, all of one revision of the store; what was not asked for longest is dropped first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = 0
        self._revision = ""
        self._copies: OrderedDict[bytes, Copy] = OrderedDict()

    def turn_to(self, revision: str) -> None:
        """Forget everything that was made from another revision."""
        if revision != self._revision:
            self._revision, self._size = revision, 0
            self._copies.clear()

    def find(self, address: bytes) -> Copy | None:
        """The copy of an address."""
        copy = self._copies.get(address)
        if copy is not None:
            self._copies.move_to_end(address)
        return copy

    def put(self, address: bytes, copy: Copy, revision: str) -> None:
        """Keep a copy, unless it was made from a revision that is over, or is larger than an eighth of the shelf."""
        if revision != self._revision or copy.size > self._most // 8:
            return
        self._size += copy.size - (known.size if (known := self._copies.pop(address, None)) else 0)
        self._copies[address] = copy
        while self._size > self._most:
            _, dropped = self._copies.popitem(last=False)
            self._size -= dropped.size
