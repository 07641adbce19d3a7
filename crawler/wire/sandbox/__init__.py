"""Runs packages that nobody vouches for: installed without scripts, started in bubblewrap without a network."""

from crawler.wire.sandbox.availability import Availability, available
from crawler.wire.sandbox.bare import UnsandboxedLauncher
from crawler.wire.sandbox.engines.pulled import Removed, held
from crawler.wire.sandbox.errors import SandboxError
from crawler.wire.sandbox.failure import start_failure
from crawler.wire.sandbox.image_engine import evict_images
from crawler.wire.sandbox.kernel.limits import Limits
from crawler.wire.sandbox.launcher import Sandbox, open_sandbox
from crawler.wire.sandbox.layers.eviction import Evicted, Keep, evict
from crawler.wire.sandbox.provisioning.installed_tree import InstalledPackage, InstalledTree
from crawler.wire.sandbox.provisioning.pythons import installed as pythons
from crawler.wire.sandbox.provisioning.rootfs import PARTS, Rootfs, build
from crawler.wire.sandbox.runtimes import look, manner, pick, pick_for_images, survey

__all__ = [
    "PARTS",
    "Availability",
    "Evicted",
    "InstalledPackage",
    "InstalledTree",
    "Keep",
    "Limits",
    "Removed",
    "Rootfs",
    "Sandbox",
    "SandboxError",
    "UnsandboxedLauncher",
    "available",
    "build",
    "evict",
    "evict_images",
    "held",
    "look",
    "manner",
    "open_sandbox",
    "pick",
    "pick_for_images",
    "pythons",
    "start_failure",
    "survey",
]
