"""What of the installed packages of a machine stays."""

from __future__ import annotations

import asyncio
import os
from datetime import timedelta
from pathlib import Path

import pytest

from tests.workers import world
from workers.clock import SystemClock
from workers.wiring.package_cache import GIGABYTE, evict_unused_packages


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A cache with ten bytes unused for forty days, and ten that were used today."""
    for name, days in (("old", 40), ("young", 0)):
        tree = tmp_path / "cache" / "layers" / name
        tree.mkdir(parents=True)
        (tree / "file").write_text("x" * 10)
        at = (SystemClock().wall() - timedelta(days=days)).timestamp()
        os.utime(tree, (at, at))
    return tmp_path / "cache"


@pytest.mark.parametrize(
    ("size", "unused", "left"),
    [(0, 0, ["old", "young"]), (0, 30, ["young"]), (15, 0, ["young"]), (5, 0, []), (100, 50, ["old", "young"])],
)
def test_installed_packages_stay_by_the_settings(
    tmp_path: Path, cache: Path, size: int, unused: int, left: list[str]
) -> None:
    settings = world.settings(tmp_path, cache=cache, layers_size=size / GIGABYTE, layers_unused=timedelta(days=unused))
    gone, _ = asyncio.run(evict_unused_packages(settings, SystemClock()))
    assert sorted(path.name for path in (cache / "layers").iterdir()) == left
    assert (gone.layers, gone.size) == (2 - len(left), 10 * (2 - len(left)))
