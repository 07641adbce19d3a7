"""Runs untrusted packages: installed without scripts, started in bubblewrap without a network.

Each name is imported when it is first used: most scans need no sandbox.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evidence.imported_on_use import import_on_use

if TYPE_CHECKING:
    from crawler.sandbox.availability import Availability, check_bubblewrap
    from crawler.sandbox.engines.pulled_images import RemovedImages, count_pulled_images
    from crawler.sandbox.errors import SandboxError
    from crawler.sandbox.failure_messages import describe_start_failure
    from crawler.sandbox.image_engine import evict_images
    from crawler.sandbox.install.package_inventory import InstalledPackage, InstalledTree
    from crawler.sandbox.kernel.limits import Limits
    from crawler.sandbox.layers.eviction import EvictedLayers, EvictionPolicy, evict_layers
    from crawler.sandbox.runtime_selection import (
        check_runtime,
        check_runtimes,
        choose_image_engine,
        choose_runtime,
        describe_containment,
    )
    from crawler.sandbox.sandbox_launcher import Sandbox
    from crawler.sandbox.sandbox_opening import open_sandbox
    from crawler.sandbox.toolchain.pythons import find_interpreters
    from crawler.sandbox.toolchain.rootfs import PARTS, Rootfs, build_rootfs
    from crawler.sandbox.unsandboxed import UnsandboxedLauncher
else:
    __getattr__ = import_on_use(
        __name__,
        {
            "Availability": "availability",
            "EvictedLayers": "layers.eviction",
            "EvictionPolicy": "layers.eviction",
            "InstalledPackage": "install.package_inventory",
            "InstalledTree": "install.package_inventory",
            "Limits": "kernel.limits",
            "PARTS": "toolchain.rootfs",
            "RemovedImages": "engines.pulled_images",
            "Rootfs": "toolchain.rootfs",
            "Sandbox": "sandbox_launcher",
            "SandboxError": "errors",
            "UnsandboxedLauncher": "unsandboxed",
            "build_rootfs": "toolchain.rootfs",
            "check_bubblewrap": "availability",
            "check_runtime": "runtime_selection",
            "check_runtimes": "runtime_selection",
            "choose_image_engine": "runtime_selection",
            "choose_runtime": "runtime_selection",
            "count_pulled_images": "engines.pulled_images",
            "describe_containment": "runtime_selection",
            "describe_start_failure": "failure_messages",
            "evict_images": "image_engine",
            "evict_layers": "layers.eviction",
            "find_interpreters": "toolchain.pythons",
            "open_sandbox": "sandbox_opening",
        },
    )

__all__ = [
    "PARTS",
    "Availability",
    "EvictedLayers",
    "EvictionPolicy",
    "InstalledPackage",
    "InstalledTree",
    "Limits",
    "RemovedImages",
    "Rootfs",
    "Sandbox",
    "SandboxError",
    "UnsandboxedLauncher",
    "build_rootfs",
    "check_bubblewrap",
    "check_runtime",
    "check_runtimes",
    "choose_image_engine",
    "choose_runtime",
    "count_pulled_images",
    "describe_containment",
    "describe_start_failure",
    "evict_images",
    "evict_layers",
    "find_interpreters",
    "open_sandbox",
]
