"""The servers whose pages search engines may list: those past the quality gate."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from evidence.model import ServerId
from evidence.store import BoardQuery, Store
from publish.site.site import Site

_BATCH = 200


def most_indexed(store: Store) -> int:
    """No more servers than these are past the gate: all that were published."""
    found = store.board.front()
    count = found[1].get("servers") if found else 0
    return count if isinstance(count, int) else 0


def indexed(site: Site, prefix: str = "") -> Iterator[tuple[ServerId, datetime]]:
    """Id and date of every server past the gate whose id begins so."""
    after: str | None = None
    while True:
        page = site.store.board.page(BoardQuery(sort="name"), after=after, limit=_BATCH)
        for listed in page.servers:
            if listed.gate and listed.server.id.startswith(f"srv_{prefix}") and not site.is_hidden(listed.server):
                yield listed.server.id, listed.as_of
        if (after := page.after) is None:
            return
