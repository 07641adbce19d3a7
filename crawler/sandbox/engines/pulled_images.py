"""Images that engines hold for us: recorded in files, so that unused ones can be removed.

Nothing is remembered of an image that was there before: it is its owner's. An engine keeps the image of every container
that exists, so a record is locked only while its image is removed, and while somebody says that it is used now.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from crawler.sandbox.engines.container_cleanup import list_container_names
from crawler.sandbox.engines.engine import Engine, EngineFlavour
from crawler.sandbox.errors import SandboxError
from crawler.sandbox.layers.eviction import EvictionPolicy
from crawler.sandbox.layers.layers import write_json_atomically

CREATION_TIME: Final = timedelta(minutes=10)
"""Who said that an image is used has a container of it by then."""

REMOVAL_SECONDS: Final = 120.0  # seconds; layers are deleted file by file
_FOLDER: Final = "images"


@dataclass(frozen=True, slots=True)
class RemovedImages:
    """How many images were removed, of how many bytes; `kept` is how many an engine did not let go."""

    images: int = 0
    size: int = 0
    kept: int = 0


@dataclass(frozen=True, slots=True)
class PulledImages:
    """The images that one engine holds for us, as the records below one cache folder say."""

    engine: Engine
    cache_dir: Path

    def remember(self, identifier: str, reference: str, size: int) -> None:
        """Write down that an image of `size` bytes is there because we had it brought there, by this name too."""
        path = self._path(identifier)
        known = _read(path)
        references = sorted({*known.references, reference}) if known else [reference]
        write_json_atomically(path, {"identifier": identifier, "references": references, "size": size})

    def use(self, identifier: str) -> bool:
        """Say that an image is used now; False when there is no record of it, for one: it was removed. May wait."""
        with contextlib.suppress(FileNotFoundError), _locked(self._path(identifier), fcntl.LOCK_SH) as handle:
            os.utime(handle)
            return True
        return False

    async def evict(self, keep: EvictionPolicy, now: datetime) -> RemovedImages:
        """Remove what does not stay by `keep`, the least recently used first, and nothing that is in use.

        Raises SandboxError when the engine does not answer.
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
        """Whether an image is gone now; False when a container or another process uses it."""
        try:
            with _locked(record.path, fcntl.LOCK_EX | fcntl.LOCK_NB):
                if not record.is_current:
                    return False
                await self._let_go(record)
                if await self._look(record.identifier) is not None:
                    return False
                record.path.unlink()
                return True
        except (FileNotFoundError, BlockingIOError):
            return False

    async def _let_go(self, record: _Record) -> None:
        """Take our names off an image, which goes with its last one; one without a name goes by itself."""
        for reference in record.references:
            there = await self._look(reference)
            if there is not None and there.get("Id") == record.identifier:
                await self.engine.ask("image", "rm", reference, seconds=REMOVAL_SECONDS)
        left = await self._look(record.identifier)
        if left is not None and _is_only_ours(left, record.references):
            await self.engine.ask("image", "rm", record.identifier, seconds=REMOVAL_SECONDS)

    async def _look(self, name: str) -> Mapping[str, object] | None:
        answer = await self.engine.ask("image", "inspect", name)
        if answer.code:
            await list_container_names(self.engine)  # an engine that is down knows no image either
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


@dataclass(frozen=True, slots=True)
class _Record:
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
    """The engines that hold images for us."""
    return [flavour for flavour in EngineFlavour if any((cache_dir / _FOLDER).glob(f"{flavour}-*.json"))]


def count_pulled_images(cache_dir: Path) -> tuple[int, int]:
    """How many images all engines hold for us, and their bytes."""
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
    """Whether an image has no name but those that pulling by `references` left it, as when a tag moved on."""
    digests, ours = image.get("RepoDigests"), {_repository(reference) for reference in references}
    named = {_repository(str(digest)) for digest in digests} if isinstance(digests, list) else set()
    return not image.get("RepoTags") and named <= ours


def _repository(reference: str) -> str:
    """Whose image it is, as Docker spells it, which leaves out where most images are."""
    folder, slash, last = reference.partition("@")[0].rpartition("/")
    spelled = f"{folder}{slash}{last.partition(':')[0]}"
    return spelled.removeprefix("docker.io/").removeprefix("library/")


@contextlib.contextmanager
def _locked(path: Path, how: int) -> Iterator[int]:
    """A record's open file, locked; raises FileNotFoundError when it is gone by then."""
    handle = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, how)
        if os.fstat(handle).st_nlink == 0:
            raise FileNotFoundError(path)
        yield handle
    finally:
        os.close(handle)
