"""The container engine for images, which is searched for when the first image is needed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from msgspec import Struct, field

from crawler.http.address_guard import AddressGuard
from crawler.sandbox.engines.container_runtime import Containers
from crawler.sandbox.engines.images import Images
from crawler.sandbox.engines.pulled_images import PulledImages, RemovedImages, list_image_engines
from crawler.sandbox.errors import SandboxError
from crawler.sandbox.layers.eviction import EvictionPolicy
from crawler.sandbox.runtime import Runtime
from crawler.sandbox.runtime_selection import check_runtime, choose_image_engine, find_engine, open_engine_runtime
from evidence.model import Absent, Reason


class ImageEngine(Struct):
    """Finds and opens the engine for images once."""

    wanted: str
    cache_dir: Path
    root: Path
    environ: Mapping[str, str]
    now: Callable[[], datetime]
    ttl: timedelta
    guard: AddressGuard = field(default_factory=AddressGuard)
    _found: Images | Absent | None = None
    _finding: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def images(self, runtime: Runtime) -> Images | Absent:
        """The images of the engine, or why there is none; raises SandboxError if the engine fails.

        `runtime` is the runtime of packages; if it is an engine, images use it too.
        """
        async with self._finding:
            if self._found is None:
                self._found = await self._open(runtime)
        return self._found

    async def _open(self, runtime: Runtime) -> Images | Absent:
        if not isinstance(runtime, Containers):
            check = partial(check_runtime, environ=self.environ)
            chosen = await asyncio.to_thread(choose_image_engine, self.wanted, check)
            if not isinstance(chosen, str):
                return Absent(Reason.RUNTIME_UNSUPPORTED, f"{chosen.why}; {chosen.fix}")
            runtime = await open_engine_runtime(chosen, self.cache_dir, self.environ)
        return Images(runtime, self.root / "etc/resolv.conf", self.now, self.ttl, self.guard)


async def evict_images(
    cache_dir: Path, keep: EvictionPolicy, now: datetime, environ: Mapping[str, str]
) -> RemovedImages:
    """Remove images that engines pulled for us according to `keep`; never one in use.

    An engine that does not respond counts as one image that was not removed.
    """
    gone = RemovedImages()
    for flavour in list_image_engines(cache_dir):
        try:
            found = await PulledImages(find_engine(flavour, environ), cache_dir).evict(keep, now)
        except SandboxError:
            found = RemovedImages(kept=1)
        gone = RemovedImages(gone.images + found.images, gone.size + found.size, gone.kept + found.kept)
    return gone
