"""Installed packages in the cache: immutable trees by digest, and an index from request to tree."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from crawler.wire.sandbox.spec import Spec
from evidence.model import TargetType

FORMAT = 1  # part of every layer's digest: bump it when trees are made differently
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """What a request was resolved to. `newest` is what the index called newest then; `checked_at` is when."""

    name: str
    version: str
    newest: str
    layer: str
    commands: dict[str, list[str]]
    blocked_scripts: list[str]
    engines: str | None
    checked_at: str


@dataclass(frozen=True, slots=True)
class Layers:
    """The layers below one cache folder, made for one root file system's Python (`abi`)."""

    cache_dir: Path
    abi: str
    ttl: timedelta

    def tree(self, digest: str) -> Path:
        """The installed files of a layer."""
        return self.cache_dir / "layers" / digest

    def lock_path(self, spec: Spec) -> Path:
        """The lock that an installation of `spec` holds."""
        return self.cache_dir / "locks" / f"{spec.key}-{self.abi}"

    def find(self, spec: Spec) -> Installed | None:
        """What `spec` was resolved to, however long ago, if its tree is still there."""
        try:
            found = Installed(**json.loads(self._entry(spec).read_text("utf-8")))
        except (OSError, ValueError, TypeError):
            return None
        return found if self.tree(found.layer).is_dir() else None

    def fresh(self, spec: Spec, found: Installed, now: datetime) -> bool:
        """True when no index needs to be asked: the version is pinned, or was looked up within the TTL."""
        if spec.pinned:
            return True
        age = now - datetime.fromisoformat(found.checked_at)
        return timedelta() <= age < self.ttl

    def put(self, spec: Spec, found: Installed) -> None:
        """Remember what `spec` was resolved to."""
        target = self._entry(spec)
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=target.parent)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(asdict(found), file, indent=1, sort_keys=True)
        Path(name).replace(target)

    def touch(self, spec: Spec, found: Installed, now: datetime) -> Installed:
        """The index still calls the same version newest: good for another TTL."""
        touched = replace(found, checked_at=now.isoformat())
        self.put(spec, touched)
        return touched

    def adopt(self, tree: Path, digest: str) -> None:
        """Move a settled tree into its place, unless the same tree is there already."""
        target = self.tree(digest)
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            tree.rename(target)
        except OSError:
            if not target.is_dir():
                raise
            shutil.rmtree(tree, ignore_errors=True)

    def _entry(self, spec: Spec) -> Path:
        return self.cache_dir / "index" / f"{spec.key}-{self.abi}.json"


def settle(tree: Path) -> tuple[int, int]:
    """Make a tree that an installer left safe to read and immutable; its size and number of files.

    Links that leave the tree and everything that is neither file, folder nor link are removed; the rest
    becomes ours, without setuid and write bits.
    """
    owner, size, count = os.geteuid(), 0, 0
    top = tree.resolve()
    for entry in _walk(tree):
        path, info = Path(entry.path), entry.stat(follow_symlinks=False)
        if stat.S_ISLNK(info.st_mode):
            if not _stays_inside(path, top):
                path.unlink()
            continue
        if not stat.S_ISREG(info.st_mode) and not stat.S_ISDIR(info.st_mode):
            path.unlink()
            continue
        if owner == 0:
            os.chown(path, 0, 0, follow_symlinks=False)
        executable = stat.S_ISDIR(info.st_mode) or info.st_mode & stat.S_IXUSR
        path.chmod(0o755 if stat.S_ISDIR(info.st_mode) else 0o555 if executable else 0o444)
        if stat.S_ISREG(info.st_mode):
            size, count = size + info.st_size, count + 1
    if owner == 0:
        os.chown(tree, 0, 0)
    tree.chmod(0o755)
    return size, count


def usage(tree: Path, most_files: int) -> tuple[int, int]:
    """Bytes and number of entries below `tree`; stops counting beyond `most_files`."""
    size = count = 0
    for entry in _walk(tree):
        count += 1
        if count > most_files:
            break
        try:
            size += entry.stat(follow_symlinks=False).st_size
        except OSError:
            continue
    return size, count


def npm_lock(lock: bytes) -> list[str]:
    """What bun's lock file resolved: name, version and integrity of every package, without addresses."""
    try:
        table = json.loads(_TRAILING_COMMA.sub(r"\1", lock.decode("utf-8")))
        packages = table["packages"]
        return sorted(f"{place} {entry[0]} {entry[-1]}" for place, entry in packages.items())
    except (ValueError, KeyError, IndexError, TypeError, AttributeError, RecursionError):
        return [hashlib.sha256(lock).hexdigest()]


def pypi_lock(tree: Path) -> list[str]:
    """What uv resolved: every distribution with the digest of its RECORD, which holds the digests of its files."""
    records = (info / "RECORD" for info in sorted(tree.glob("*.dist-info")))
    return [f"{r.parent.name} {hashlib.sha256(r.read_bytes()).hexdigest()}" for r in records if r.is_file()]


def digest(ecosystem: TargetType, abi: str, lock: Sequence[str]) -> str:
    """The name of a layer: same resolution, same digest."""
    text = "\n".join([f"layer {FORMAT} {ecosystem.value} {abi}", *lock])
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _walk(tree: Path) -> Iterator[os.DirEntry[str]]:
    folders = [str(tree)]
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                found = list(entries)
        except OSError:
            continue
        for entry in found:
            yield entry
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.path)


def _stays_inside(link: Path, top: Path) -> bool:
    target = link.readlink()
    return not target.is_absolute() and Path(os.path.normpath(link.parent.resolve() / target)).is_relative_to(top)
