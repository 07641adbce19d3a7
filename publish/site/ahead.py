"""Which pages that were made ahead say what a page made now would say."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

from evidence.model import ServerId
from publish.site.prepared import Page, PreparedPages

_PACKAGES: Final = Path(__file__).resolve().parents[2]
_MAKING: Final = ("evidence", "scoring", "publish")
"""Packages whose code decides what a page says."""

_SOURCES: Final = frozenset({".py", ".j2", ".css", ".svg"})
_DIGITS: Final = 32


@dataclass(frozen=True, slots=True)
class Known:
    """What holds at a revision of the store: the stamp of pages made ahead, and the servers that none is shown of.

    No stamp: nothing is published.
    """

    revision: str
    stamp: str
    touched: frozenset[ServerId] = frozenset()


class Ahead:
    """The pages made ahead, and what is known of them; without `pages` there are none. `counted` hears who finds one.

    What is known counts as long as it is no older than a copy may be: until then the store was not asked whether
    anything has happened.
    """

    def __init__(self, pages: PreparedPages | None = None) -> None:
        self.pages = pages
        self.known: Known | None = None
        self.counted: Callable[[bool], None] = lambda _: None
        self._asked: float | None = None

    def turn_to(self, known: Known) -> None:
        """Let this hold from now on."""
        self.known = known

    def trust(self, asked: float | None) -> None:
        """What is known was asked for at a moment; None: it must be asked for again first."""
        self._asked = asked

    def find(self, server: ServerId, now: float, fresh: float) -> Page | None:
        """The page of a server, as it would be made now; None when it has to be made."""
        known, asked = self.known, self._asked
        if self.pages is None:
            return None
        page = None
        if known and known.stamp and asked is not None and now - asked < fresh and server not in known.touched:
            page = self.pages.find(known.stamp, server)
        self.counted(page is not None)
        return page


def stamp_of(*parts: str) -> str:
    """The name of all that pages are made from: these parts and the code."""
    return sha256(json.dumps([code(), *parts]).encode()).hexdigest()[:_DIGITS]


@cache
def code() -> str:
    """A digest of the code and the templates that make pages: a version may stay the same while they change."""
    found = sha256()
    for path in sorted(path for name in _MAKING for path in (_PACKAGES / name).rglob("*")):
        if path.suffix in _SOURCES:
            found.update(f"{path.relative_to(_PACKAGES)}\0".encode() + sha256(path.read_bytes()).digest())
    return found.hexdigest()
