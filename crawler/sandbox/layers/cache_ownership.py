"""Ensures that only we can write to the cache: other writers could change the programs that are started from it."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from crawler.sandbox.errors import SandboxError

_OTHERS = stat.S_IWGRP | stat.S_IWOTH
_KEPT = ("index", "layers", "rootfs", "seals", "tools")


def claim_cache(cache_dir: Path) -> None:
    """Create the cache folders and remove write permission of others; raises SandboxError if we do not own one."""
    cache_dir.mkdir(parents=True, exist_ok=True)
    _close(cache_dir)
    for name in _KEPT:
        folder = cache_dir / name
        folder.mkdir(exist_ok=True)
        _close(folder)


def _close(folder: Path) -> None:
    info, ours = folder.stat(), os.getuid()
    if info.st_uid != ours:
        raise SandboxError(f"{folder} belongs to user {info.st_uid}, not to {ours}; remove it or set HALLMARK_CACHE")
    if info.st_mode & _OTHERS:
        folder.chmod(stat.S_IMODE(info.st_mode) & ~_OTHERS)
