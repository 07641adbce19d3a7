"""Opens the sandbox of this machine, and builds it if it is missing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

from crawler.http.address_guard import AddressGuard
from crawler.sandbox.boxes.egress_relay import NO_ENDPOINTS, AllowedEndpoints
from crawler.sandbox.boxes.relay_listener import RelayedBubblewrap
from crawler.sandbox.errors import SandboxError
from crawler.sandbox.image_engine import ImageEngine
from crawler.sandbox.install.installer import Installer
from crawler.sandbox.install.installers import Installers, layer_abi
from crawler.sandbox.install.resolution_cache import Resolutions
from crawler.sandbox.kernel.limits import RUN, Limits
from crawler.sandbox.layers.cache_ownership import claim_cache
from crawler.sandbox.layers.eviction import remove_abandoned
from crawler.sandbox.layers.layers import Layers
from crawler.sandbox.runtime import Bubblewrap
from crawler.sandbox.runtime_selection import (
    AUTO,
    check_runtime,
    choose_runtime,
    open_runtime,
    prepare_for_orphans,
)
from crawler.sandbox.sandbox_launcher import Sandbox
from crawler.sandbox.toolchain import host, pythons, rootfs
from crawler.sandbox.toolchain.configured_indexes import ConfiguredIndexes
from evidence.model import Absent, Reason

RESOLUTION_TTL = timedelta(hours=24)
STRICT_GUARD = AddressGuard()


async def open_sandbox(
    cache_dir: Path,
    *,
    environ: Mapping[str, str],
    now: Callable[[], datetime],
    ttl: timedelta = RESOLUTION_TTL,
    limits: Limits = RUN,
    slots: int = 2,
    runtime: str = AUTO,
    python: str = pythons.ALL,
    endpoints: AllowedEndpoints = NO_ENDPOINTS,
    guard: AddressGuard = STRICT_GUARD,
    indexes: ConfiguredIndexes | None = None,
    progress: Callable[[str], None] = lambda _: None,
    on_phase: Callable[[str], None] | None = None,
) -> Sandbox | Absent:
    """A sandbox with the cache `cache_dir`, built if needed; Absent(no_sandbox) explains a failure.

    `environ`: the environment with the user's package indexes and certificates; servers do not get it. `slots`: how
    many targets all processes with this cache install or run at the same time. `runtime`: one of
    `runtime_selection.RUNTIMES`, or `auto`. `python`: the Pythons for packages besides our own: `all`, `own` for none,
    or versions separated by commas. `endpoints`: what servers may reach over the network; by default nothing.
    `guard`: the address policy for image registries. `indexes`: those of
    `environ`, if they are read elsewhere too. `progress` gets the steps of building, `on_phase` what is done for
    each target.
    """
    cache_dir = await asyncio.to_thread(cache_dir.resolve)
    chosen = await asyncio.to_thread(choose_runtime, runtime, partial(check_runtime, environ=environ))
    if not isinstance(chosen, str):
        return Absent(Reason.NO_SANDBOX, f"{chosen.why}; {chosen.fix}")
    try:
        await asyncio.to_thread(claim_cache, cache_dir)
        root, interpreters, _ = await asyncio.gather(
            rootfs.build_rootfs(cache_dir, progress, environ=environ),
            asyncio.to_thread(pythons.find_interpreters, environ, python),
            asyncio.to_thread(prepare_for_orphans, chosen),
        )
        contained_by = await open_runtime(chosen, cache_dir, root.root, environ)
        if endpoints != NO_ENDPOINTS:
            if not isinstance(contained_by, Bubblewrap):
                return Absent(Reason.NO_SANDBOX, f"{chosen} opens no way to the network; bubblewrap does")
            contained_by = RelayedBubblewrap(endpoints)
        bundle = host.find_certificate_bundle(environ)
    except SandboxError as error:
        return Absent(Reason.NO_SANDBOX, str(error))
    await asyncio.to_thread(remove_abandoned, cache_dir, now())
    others = Installers(cache_dir, environ, progress, interpreters)
    store = Layers(cache_dir, layer_abi(others.pythons.own))
    installer = Installer(rootfs=root, store=store, bundle=bundle, on_phase=on_phase)
    engine = ImageEngine(runtime, cache_dir, root.root, environ, now, ttl, guard)
    known = Resolutions(store, ttl, others.pythons.names)
    indexes = indexes or ConfiguredIndexes(environ, cache_dir)
    return Sandbox(cache_dir, root, indexes, now, installer, known, limits, slots, contained_by, engine, others)
