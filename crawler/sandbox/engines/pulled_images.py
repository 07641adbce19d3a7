"""Records of the images that engines pulled for us, so that unused ones can be removed.

An image that existed before has no record, since another program owns it. An engine keeps the image of every
existing container, so a record is locked only during the removal of its image and during the update of its use.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from msgspec import Struct

from crawler.sandbox.engines.container_cleanup import list_container_names
from crawler.sandbox.engines.engine import Engine, EngineFlavour
from crawler.sandbox.errors import SandboxError
from crawler.sandbox.layers.eviction import EvictionPolicy
from crawler.sandbox.layers.layers import write_json_atomically

CREATION_TIME: Final = timedelta(minutes=10)
"""An image that was marked as used has a container within this time."""

REMOVAL_SECONDS: Final = 120.0  # seconds; layers are deleted file by file
_FOLDER: Final = "images"


class RemovedImages(Struct, frozen=True):
    """The number and bytes of removed images; `kept`: those that an engine did not remove."""

    images: int = 0
    size: int = 0
    kept: int = 0


class PulledImages(Struct, frozen=True):
    """The images that one engine pulled for us, according to the records below one cache folder."""

    engine: Engine
    cache_dir: Path

    def remember(self, identifier: str, reference: str, size: int) -> None:
        """Record an image of `size` bytes that we pulled under this reference, in addition to earlier references."""
        path = self._path(identifier)
        known = _read(path)
        references = sorted({*known.references, reference}) if known else [reference]
        write_json_atomically(path, {"identifier": identifier, "references": references, "size": size})

    def use(self, identifier: str) -> bool:
        """Mark an image as used now; False if it has no record, for example after its removal. May block."""
        with contextlib.suppress(FileNotFoundError), _locked(self._path(identifier), fcntl.LOCK_SH) as handle:
            os.utime(handle)
            return True
        return False

    async def evict(self, keep: EvictionPolicy, now: datetime) -> RemovedImages:
        """Remove images according to `keep`, the least recently used first, and none in use.

        Raises SandboxError if the engine does not respond.
        """
        known = sorted(self._records(), key=lambda record: record.used_at)
        total, gone = sum(record.size for record in known), RemovedImages()
        for record in known:
            is_old = keep.unused is not None and now - record.used_at > keep.unused
            if now - record.used_at < CREATION_TIME or (not is_old and (keep.size is None or total <= keep.size)):
                continue
            if await self._remove(record):
                total -= record.size
                gone = RemovedImages(gone.images + 1, gone.size + record.size, gone.kept)
            else:
                gone = RemovedImages(gone.images, gone.size, gone.kept + 1)
        return gone

    async def _remove(self, record: _Record) -> bool:
        """Remove an image; False if a container or another process uses it."""
        try:
            with _locked(record.path, fcntl.LOCK_EX | fcntl.LOCK_NB):
                if not record.is_current:
                    return False
                await self._remove_references(record)
                if await self._inspect(record.identifier) is not None:
                    return False
                record.path.unlink()
                return True
        except (FileNotFoundError, BlockingIOError):
            return False

    async def _remove_references(self, record: _Record) -> None:
        """Remove our names from an image; the engine removes it with its last name. Then remove an unnamed rest."""
        for reference in record.references:
            there = await self._inspect(reference)
            if there is not None and there.get("Id") == record.identifier:
                await self.engine.run("image", "rm", reference, seconds=REMOVAL_SECONDS)
        left = await self._inspect(record.identifier)
        if left is not None and _is_only_ours(left, record.references):
            await self.engine.run("image", "rm", record.identifier, seconds=REMOVAL_SECONDS)

    async def _inspect(self, name: str) -> Mapping[str, object] | None:
        answer = await self.engine.run("image", "inspect", name)
        if answer.code:
            await list_container_names(self.engine)  # raises if the engine is down, for which every image is missing
            return None
        try:
            found = json.loads(answer.out)[0]
        except (ValueError, LookupError, TypeError) as error:
            raise SandboxError(f"{self.engine.flavour} describes an image in an unknown way") from error
        return found if isinstance(found, dict) else {}

    def _records(self) -> Iterator[_Record]:
        for path in (self.cache_dir / _FOLDER).glob(f"{self.engine.flavour}-*.json"):
            if record := _read(path):
                yield record

    def _path(self, identifier: str) -> Path:
        return self.cache_dir / _FOLDER / f"{self.engine.flavour}-{identifier.removeprefix('sha256:')}.json"


class _Record(Struct, frozen=True):
    path: Path
    identifier: str
    references: Sequence[str]
    size: int
    used_at: datetime

    @property
    def is_current(self) -> bool:
        """Whether no use of the image was recorded since it was read."""
        return _read(self.path) == self


def list_image_engines(cache_dir: Path) -> list[EngineFlavour]:
    """The engines that pulled images for us."""
    return [flavour for flavour in EngineFlavour if any((cache_dir / _FOLDER).glob(f"{flavour}-*.json"))]


def count_pulled_images(cache_dir: Path) -> tuple[int, int]:
    """The number and bytes of the images that all engines pulled for us."""
    records = [record for path in (cache_dir / _FOLDER).glob("*-*.json") if (record := _read(path))]
    return len(records), sum(record.size for record in records)


def _read(path: Path) -> _Record | None:
    try:
        used_at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
        found = json.loads(path.read_bytes())
        identifier, references, size = found["identifier"], found["references"], found["size"]
        return _Record(path, str(identifier), tuple(map(str, references)), int(size), used_at)
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None


def _is_only_ours(image: Mapping[str, object], references: Sequence[str]) -> bool:
    """Whether an image has only digests of our repositories and no tag, as after a tag moved to another image."""
    digests, ours = image.get("RepoDigests"), {_repository(reference) for reference in references}
    named = {_repository(str(digest)) for digest in digests} if isinstance(digests, list) else set()
    return not image.get("RepoTags") and named <= ours


def _repository(reference: str) -> str:
    """The repository of a reference in Docker's spelling, without the default registry."""
    folder, slash, last = reference.partition("@")[0].rpartition("/")
    spelled = f"{folder}{slash}{last.partition(':')[0]}"
    return spelled.removeprefix("docker.io/").removeprefix("library/")


@contextlib.contextmanager
def _locked(path: Path, how: int) -> Iterator[int]:
    """Open and lock a record; raises FileNotFoundError if it was removed meanwhile."""
    handle = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, how)
        if os.fstat(handle).st_nlink == 0:
            raise FileNotFoundError(path)
        yield handle
    finally:
        os.close(handle)
