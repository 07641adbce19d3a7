"""Types of an archive: Bounds, Entry, Member, Skipped, and ArchiveDamaged, which ends the walk."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from msgspec import Struct


class Bounds(Struct, frozen=True, kw_only=True):
    """Bounds of one archive: inflated bytes, entries, bytes of metadata of one entry, and the form of paths.

    `members` bounds the members of a gzip file. Sizes are in bytes.
    """

    unpacked: int = 1024 * 1024 * 1024
    entries: int = 100_000
    metadata: int = 64 * 1024
    members: int = 1_000
    depth: int = 40
    path: int = 1_024
    part: int = 255


class EntryKind(StrEnum):
    """The type of an entry. Only the content of a FILE is read."""

    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    SPECIAL = "special"


class Entry(Struct, frozen=True):
    """One entry of the archive. `read` returns its content once, before the next entry; it may raise EntryDamaged.

    `refused` says why the entry is not trustworthy; empty for an ordinary one.
    """

    name: str
    kind: EntryKind
    size: int
    read: Callable[[], bytes]
    refused: str = ""


class Member(Struct, frozen=True):
    """A file of an archive. `data` is None when the file is not wanted or larger than wanted."""

    path: str
    size: int
    data: bytes | None


class Skipped(Struct, frozen=True):
    """A path that was not read. `grave`: not an ordinary file, so the walk is not complete."""

    path: str
    why: str
    grave: bool


class ArchiveDamaged(Exception):
    """The rest of the archive cannot be read; the message says why, without file offsets."""


class EntryDamaged(Exception):
    """One entry cannot be read; the next ones can."""
