"""Evicts unused packages and images from the cache of this machine."""

from __future__ import annotations

import asyncio
from typing import Final

from crawler.sandbox import EvictedLayers, EvictionPolicy, RemovedImages, evict_images, evict_layers
from workers.clock import Clock
from workers.log import get_log
from workers.settings.environment import Settings, read_tool_environment

GIGABYTE: Final = 1_000_000_000


async def evict_unused_packages(settings: Settings, clock: Clock) -> tuple[EvictedLayers, RemovedImages]:
    """Remove installed packages and pulled images beyond the limits of the settings, never one in use."""
    keep = EvictionPolicy(size=int(settings.layers_size * GIGABYTE) or None, unused=settings.layers_unused or None)
    gone = await asyncio.to_thread(evict_layers, settings.cache, keep, clock.wall())
    if gone.layers:
        get_log().info("layers_evicted", layers=gone.layers, bytes=gone.size)
    images = await evict_images(settings.cache, keep, clock.wall(), read_tool_environment())
    if images.images or images.kept:
        get_log().info("images_evicted", images=images.images, bytes=images.size, kept=images.kept)
    return gone, images
