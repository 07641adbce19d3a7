"""Evicts layers: first those that were not used for long, then the least recently used; never one in use."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec import Struct

from crawler.sandbox.kernel import cgroup
from crawler.sandbox.kernel.user_ids import try_lock
from crawler.sandbox.layers import trees
from crawler.sandbox.layers.layers import move_aside, seal_path, use_path

ABANDONED_AFTER = timedelta(hours=1)
"""No installation takes so long: an older working folder belongs to a killed process."""

RECALLED_FOR = timedelta(days=14)
"""The resolution of an evicted layer is kept for this long: it tells that a package did not change."""

ROOT_IN_USE = timedelta(days=1)
"""No process uses an opened root file system for longer."""

LOCK = "lock"
"""The lock file of a working folder."""

_MOST_FILES = 1_000_000


class EvictionPolicy(Struct, frozen=True, kw_only=True):
    """Keep layers that were used within `unused`, at most `size` bytes in total. None: no limit."""

    size: int | None = None
    unused: timedelta | None = None


class EvictedLayers(Struct, frozen=True):
    """The number and bytes of removed layers."""

    layers: int = 0
    size: int = 0


class _Layer(Struct, frozen=True):
    digest: str
    used_at: datetime
    size: int


def remove_abandoned(cache_dir: Path, now: datetime) -> None:
    """Remove boxes and working folders of killed processes, and the shared downloads of older versions."""
    cgroup.remove_abandoned_groups()
    for work in (*(cache_dir / "work").glob("*"), *(cache_dir / "rootfs").glob(".*")):
        with contextlib.suppress(OSError):
            if _is_abandoned(work, now):
                trees.remove_tree(work)
    trees.remove_tree(cache_dir / "downloads")


def evict_layers(cache_dir: Path, keep: EvictionPolicy, now: datetime) -> EvictedLayers:
    """Remove layers according to `keep`, the least recently used first, and then their metadata."""
    known = sorted(_layers(cache_dir), key=lambda layer: layer.used_at)
    total, gone = sum(layer.size for layer in known), EvictedLayers()
    for layer in known:
        old = keep.unused is not None and now - layer.used_at > keep.unused
        if not old and (keep.size is None or total <= keep.size):
            continue
        if _remove(cache_dir, layer.digest):
            total -= layer.size
            gone = EvictedLayers(gone.layers + 1, gone.size + layer.size)
    _remove_metadata(cache_dir, now)
    if keep.unused is not None:
        _remove_request_locks(cache_dir, now - keep.unused)
        _remove_roots(cache_dir, now - max(keep.unused, ROOT_IN_USE))
    return gone


def _is_abandoned(work: Path, now: datetime) -> bool:
    """Whether the lock of a working folder is free; one without lock counts after ABANDONED_AFTER."""
    if not (work / LOCK).exists():
        return now - _time(work) > ABANDONED_AFTER
    handle = try_lock(work / LOCK)
    if handle is not None:
        os.close(handle)
    return handle is not None


def _layers(cache_dir: Path) -> Iterator[_Layer]:
    for tree in (cache_dir / "layers").glob("*"):
        with contextlib.suppress(OSError):
            use = use_path(cache_dir, tree.name)
            yield _Layer(tree.name, _time(use if use.exists() else tree), _size(cache_dir, tree))


def _size(cache_dir: Path, tree: Path) -> int:
    size = _read(seal_path(cache_dir, tree.name)).get("size")
    return size if isinstance(size, int) else trees.measure_usage(tree, _MOST_FILES)[0]


def _remove(cache_dir: Path, digest: str) -> bool:
    """Remove a layer unless it is locked. The lock file is removed last, so that waiting processes notice."""
    path = use_path(cache_dir, digest)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        aside = move_aside(cache_dir, cache_dir / "layers" / digest)
        seal_path(cache_dir, digest).unlink(missing_ok=True)
        path.unlink(missing_ok=True)
    except OSError:
        return False
    finally:
        os.close(handle)
    trees.remove_tree(aside)
    return True


def _remove_metadata(cache_dir: Path, now: datetime) -> None:
    """Remove the metadata of missing layers, unless it is recent: a seal is written before its layer."""
    there = {tree.name for tree in (cache_dir / "layers").glob("*")}
    ages = {".json": RECALLED_FOR}  # refusals and what a killed process left behind have no layer
    index = (cache_dir / "index").glob("*")
    known = [(entry, _read(entry).get("layer"), ages.get(entry.suffix, ABANDONED_AFTER)) for entry in index]
    folders = [cache_dir / name for name in ("seals", "uses")]
    known += [(path, path.stem, ABANDONED_AFTER) for folder in folders for path in folder.glob("*")]
    for path, layer, age in known:
        with contextlib.suppress(FileNotFoundError):
            if layer not in there and now - _time(path) > age:
                path.unlink()


def _remove_request_locks(cache_dir: Path, since: datetime) -> None:
    """Remove the lock files of packages that were not requested since then."""
    for path in (cache_dir / "locks").glob("*"):
        with contextlib.suppress(OSError):
            if _time(path) < since and (handle := try_lock(path)) is not None:
                path.unlink()
                os.close(handle)


def _remove_roots(cache_dir: Path, since: datetime) -> None:
    """Remove root file systems that were not used since then."""
    for seal in (cache_dir / "rootfs").glob("*.seal"):
        with contextlib.suppress(OSError):
            if _time(seal) < since:
                trees.remove_tree(seal.with_suffix(""))
                seal.unlink()


def _read(path: Path) -> dict[str, object]:
    try:
        found = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _time(path: Path) -> datetime:
    return datetime.fromtimestamp(path.lstat().st_mtime, UTC)
