"""The engine that images run in, looked for when the first image is asked for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from crawler.http.address_guard import AddressGuard
from crawler.sandbox.engines.container_runtime import Containers
from crawler.sandbox.engines.images import Images
from crawler.sandbox.engines.pulled_images import PulledImages, RemovedImages, list_image_engines
from crawler.sandbox.errors import SandboxError
from crawler.sandbox.layers.eviction import EvictionPolicy
from crawler.sandbox.runtime import Runtime
from crawler.sandbox.runtime_selection import check_runtime, choose_image_engine, find_engine, open_engine_runtime
from evidence.model import Absent, Reason


@dataclass(slots=True)
class ImageEngine:
    """Finds and opens the engine of images once. `runtime` is that of packages, which is used if it is an engine."""

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
        """The images of the engine, or why there is none; raises SandboxError when it does not work."""
        async with self._finding:
            if self._found is None:
                self._found = await self._open(runtime)
        return self._found

    async def _open(self, runtime: Runtime) -> Images | Absent:
        if not isinstance(runtime, Containers):
            asked = partial(check_runtime, environ=self.environ)
            chosen = await asyncio.to_thread(choose_image_engine, self.wanted, asked)
            if not isinstance(chosen, str):
                return Absent(Reason.RUNTIME_UNSUPPORTED, f"{chosen.why}; {chosen.fix}")
            runtime = await open_engine_runtime(chosen, self.cache_dir, self.environ)
        return Images(runtime, self.root / "etc/resolv.conf", self.now, self.ttl, self.guard)


async def evict_images(
    cache_dir: Path, keep: EvictionPolicy, now: datetime, environ: Mapping[str, str]
) -> RemovedImages:
    """Remove the images that do not stay by `keep` from the engines that pulled them for us; never one in use.

    Those of an engine that does not answer are kept, and counted so.
    """
    gone = RemovedImages()
    for flavour in list_image_engines(cache_dir):
        try:
            found = await PulledImages(find_engine(flavour, environ), cache_dir).evict(keep, now)
        except SandboxError:
            found = RemovedImages(kept=1)
        gone = RemovedImages(gone.images + found.images, gone.size + found.size, gone.kept + found.kept)
    return gone
