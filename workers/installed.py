"""The installed packages of this machine: which of them stay in the cache."""

from __future__ import annotations

from typing import Final

from crawler.wire.sandbox import Evicted, Keep, evict
from workers.clock import Clock
from workers.log import get_log
from workers.settings import Settings

GIGABYTE: Final = 1_000_000_000


def keep_room(settings: Settings, clock: Clock) -> Evicted:
    """Remove the installed packages that do not stay by the settings; never one in use."""
    keep = Keep(size=int(settings.layers_size * GIGABYTE) or None, unused=settings.layers_unused or None)
    gone = evict(settings.cache, keep, clock.wall())
    if gone.layers:
        get_log().info("layers_evicted", layers=gone.layers, bytes=gone.size)
    return gone
