"""The servers whose pages search engines may list: those past the quality gate."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from evidence.model import ServerId
from publish.site.site import Site


def most_indexed(site: Site) -> int:
    """No more servers than these are past the gate: all that were published."""
    found = site.store.board.front()
    count = found[1].get("servers") if found else 0
    return count if isinstance(count, int) else 0


def indexed(site: Site, digit: str = "") -> Iterator[tuple[ServerId, datetime]]:
    """Id and date of every server past the gate, or of those whose id begins with a digit."""
    return iter(site.store.board.indexed(f"srv_{digit}"))
