"""Installed trees in the cache: immutable, named by their lock and contents, verified before use, held during use.

Each layer has a seal: its lock, and the stamp (metadata digest) of its files at the time of the last hashing. If the
stamp has changed, or a week has passed, all files are hashed and compared with the layer's name (docs/decisions/0036).
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
import re
import stat
import tempfile
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from msgspec import Struct
from msgspec.structs import asdict, replace

from crawler.sandbox.errors import SandboxError
from crawler.sandbox.layers import trees
from evidence.model import TargetType

FORMAT = 2  # part of every layer's name; increment it when trees are built differently
REHASH = timedelta(days=7)
"""A tree with an unchanged stamp is hashed again after this time, since disk errors change no timestamp."""
_NAME = re.compile(r"[0-9a-f]{64}")
_TRAILING_COMMA = re.compile(r",(\s*[}\]])")


class Seal(Struct, frozen=True, kw_only=True):
    """Metadata of a layer. `lock` and `ecosystem` are part of its name; `stamp` was true at `hashed_at`."""

    ecosystem: str
    lock: list[str]
    size: int
    files: int
    stamp: str
    hashed_at: str


class Layers(Struct, frozen=True):
    """The layers below one cache folder, made for one root file system's Python (`abi`)."""

    cache_dir: Path
    abi: str

    def tree(self, digest: str) -> Path:
        """The installed files of a layer."""
        return self.cache_dir / "layers" / digest

    def has(self, digest: str) -> bool:
        """Whether a layer of this name exists; `find_flaw` tells whether it is intact."""
        return _NAME.fullmatch(digest) is not None and self.tree(digest).is_dir()

    def adopt(
        self, tree: Path, ecosystem: TargetType, lock: Sequence[str], measured: tuple[int, int], now: datetime
    ) -> str:
        """Move a settled tree of `measured` bytes and files into the cache; return its name.

        An intact layer with the same name stays.
        """
        size, files = measured
        digest = layer_name(ecosystem.value, self.abi, lock, trees.content_digest(tree))
        if self.has(digest) and self.find_flaw(digest, now) is None:
            return digest
        self.discard(digest)
        seal = Seal(
            ecosystem=ecosystem.value,
            lock=list(lock),
            size=size,
            files=files,
            stamp=trees.metadata_digest(tree),
            hashed_at=now.isoformat(),
        )
        self._write_seal(digest, seal)
        target = self.tree(digest)
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            tree.rename(target)
        except OSError:
            if not target.is_dir():  # otherwise another process has added the same tree
                raise
        return digest

    def read_seal(self, digest: str) -> Seal | None:
        """Read the seal of a layer; None if it is missing or damaged."""
        try:
            return Seal(**json.loads(self._seal_path(digest).read_bytes()))
        except (OSError, ValueError, TypeError, RecursionError):
            return None

    def find_flaw(self, digest: str, now: datetime) -> str | None:
        """Why a layer must not be used; None if it is unchanged. Raises SandboxError if it cannot be read."""
        seal, tree = self.read_seal(digest), self.tree(digest)
        if seal is None:
            return "it has no seal"
        try:
            info = tree.lstat()
            if not stat.S_ISDIR(info.st_mode) or info.st_uid != os.getuid():
                return "it is not a folder of ours"
            stamp = trees.metadata_digest(tree)
            if stamp == seal.stamp and timedelta() <= now - datetime.fromisoformat(seal.hashed_at) < REHASH:
                return None
            if layer_name(seal.ecosystem, self.abi, seal.lock, trees.content_digest(tree)) != digest:
                return "its files are not those that it was made of"
            self._write_seal(digest, replace(seal, stamp=stamp, hashed_at=now.isoformat()))
        except (FileNotFoundError, NotADirectoryError, ValueError, TypeError):
            return "it cannot be read"
        except OSError as error:  # our own failure; other processes may use the layer
            raise SandboxError(f"installed files cannot be read: {error.strerror}") from error
        return None

    def repair(self, digest: str, now: datetime) -> str | None:
        """Discard a layer with a flaw, so that it can be installed again; return the flaw."""
        if (flaw := self.find_flaw(digest, now)) is not None:
            self.discard(digest)
        return flaw

    def discard(self, digest: str) -> None:
        """Remove a layer; processes that use it keep their open files."""
        self._seal_path(digest).unlink(missing_ok=True)
        with contextlib.suppress(FileNotFoundError):
            trees.remove_tree(move_aside(self.cache_dir, self.tree(digest)))

    @contextlib.contextmanager
    def hold(self, digest: str) -> Iterator[None]:
        """Prevent the eviction of a layer by any process; the kernel ends this when we die."""
        handle = _lock_shared(use_path(self.cache_dir, digest))
        try:
            os.utime(handle)
            yield
        finally:
            os.close(handle)

    def _seal_path(self, digest: str) -> Path:
        return seal_path(self.cache_dir, digest)

    def _write_seal(self, digest: str, seal: Seal) -> None:
        write_json_atomically(self._seal_path(digest), asdict(seal))


def seal_path(cache_dir: Path, digest: str) -> Path:
    """The path of a layer's seal."""
    return cache_dir / "seals" / f"{digest}.json"


def use_path(cache_dir: Path, digest: str) -> Path:
    """The lock file of a layer's users; its modification time is the last use."""
    return cache_dir / "uses" / digest


def move_aside(cache_dir: Path, tree: Path) -> Path:
    """Move a tree into a working folder; raises FileNotFoundError if it does not exist."""
    folder = cache_dir / "work"
    folder.mkdir(parents=True, exist_ok=True)
    aside = Path(tempfile.mkdtemp(dir=folder))
    try:
        return tree.rename(aside / "out").parent
    except OSError:
        aside.rmdir()
        raise


def write_json_atomically(target: Path, value: object) -> None:
    """Replace a file atomically, so that no reader sees a partial file."""
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=target.parent)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(value, file, indent=1, sort_keys=True)
    Path(temporary).replace(target)


def read_npm_lock(lock: bytes) -> list[str]:
    """Read bun's lock file: path, name, version and integrity of every package, without URLs.

    Raises ValueError for a file that is not a lock.
    """
    try:
        packages = json.loads(_TRAILING_COMMA.sub(r"\1", lock.decode("utf-8")))["packages"]
        return sorted(f"{place} {entry[0]} {entry[-1]}" for place, entry in packages.items())
    except (KeyError, IndexError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError("not a lock file of bun") from error


def read_pypi_lock(tree: Path) -> list[str]:
    """The distributions that uv installed, each with the digest of its RECORD, which lists the file digests."""
    records = (info / "RECORD" for info in sorted(tree.glob("*.dist-info")))
    return [f"{r.parent.name} {trees.file_digest(r).hex()}" for r in records if r.is_file() and not r.is_symlink()]


def layer_name(ecosystem: str, abi: str, lock: Sequence[str], content: str) -> str:
    """The name of a layer, which follows from its resolution and its files."""
    text = "\n".join([f"layer {FORMAT} {ecosystem} {abi}", *lock, content])
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _lock_shared(path: Path) -> int:
    """A descriptor with a shared lock on the current file at `path`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        handle = os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        fcntl.flock(handle, fcntl.LOCK_SH)  # short: an eviction holds it only during a rename
        if os.fstat(handle).st_nlink:
            return handle
        os.close(handle)  # the layer was evicted between open and lock
