"""How far the downloads of an installation are, read from the caches of bun and uv."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_BUN_NAMES: Final = ("*.npm",)
_BUN_PACKAGES: Final = ("*@@@*", "@*/*@@@*")
_UV_NAMES: Final = ("simple-*/**/*.rkyv",)
_UV_PACKAGES: Final = ("archive-*/*",)


def describe_downloads(downloads: Path) -> str:
    """`resolving`, then `downloading 12 of 40`, then `unpacking`.

    The total is the number of packages that are known so far: bun downloads while it resolves.
    """
    bun, uv = downloads / "bun", downloads / "uv"
    try:
        known = _count(bun, _BUN_NAMES) + _count(uv, _UV_NAMES)
        loaded = _count(bun, _BUN_PACKAGES) + _count(uv, _UV_PACKAGES)
    except OSError:  # the installer moves its files
        return "downloading"
    if not loaded:
        return "resolving"
    return f"downloading {loaded} of {known}" if loaded < known else "unpacking"


def _count(folder: Path, patterns: tuple[str, ...]) -> int:
    return sum(1 for pattern in patterns for _ in folder.glob(pattern))
