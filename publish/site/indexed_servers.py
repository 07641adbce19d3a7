"""The servers whose pages search engines may list: those past the quality gate."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from evidence.model import ServerId
from publish.web.context import SiteContext


def count_indexed_at_most(site: SiteContext) -> int:
    """No more servers than these are past the gate: all that were published."""
    found = site.store.listing.read_dashboard()
    count = found[1].get("servers") if found else 0
    return count if isinstance(count, int) else 0


def list_indexed_servers(site: SiteContext, digit: str = "") -> Iterator[tuple[ServerId, datetime]]:
    """Id and date of every server past the gate, or of those whose id begins with a digit."""
    return iter(site.store.listing.list_indexable(f"srv_{digit}"))
