"""The request to a reader and its answer."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from crawler.archives import Bounds
from crawler.archives.published_files import NOTHING, ReleaseContents
from evidence.canonical import Json


class ReadingTask(Struct, frozen=True, kw_only=True):
    """One archive or folder to read: its origin, the server's folder in it, the outer folders, and its releases."""

    origin: str
    name: str
    ref: str
    subfolder: str = ""
    strip: int = 1
    bounds: Bounds = field(default_factory=Bounds)
    release: ReleaseContents = NOTHING


class ReadingResult(Struct, frozen=True, kw_only=True):
    """The bodies of the three kinds, as they are recorded. `dependencies` is None without a lockfile."""

    source: Mapping[str, Json]
    secrets: Mapping[str, Json]
    dependencies: Mapping[str, Json] | None


class ArchiveUnreadable(Exception):
    """Nothing in the archive can be read; the message says why."""


class FolderMissing(Exception):
    """The archive has no such folder."""
