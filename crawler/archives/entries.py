"""The nouns of an archive: Bounds, Entry, Member, Skipped, and Damaged, which ends the reading of one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What one archive may cost: bytes inflated, entries, bytes of metadata of one entry, and how paths may look.

    `members` bounds how often a gzip file may begin anew. Sizes are in bytes.
    """

    unpacked: int = 1024 * 1024 * 1024
    entries: int = 100_000
    metadata: int = 64 * 1024
    members: int = 1_000
    depth: int = 40
    path: int = 1_024
    part: int = 255


class EntryKind(StrEnum):
    """What an entry is. Only a FILE has content for us."""

    FILE = "file"
    FOLDER = "folder"
    LINK = "link"
    SPECIAL = "special"


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry as the archive has it; `read` gives its content once, before the next entry, and may raise Damaged.

    `refused` says why the entry itself cannot be believed; empty for an ordinary one.
    """

    name: str
    kind: EntryKind
    size: int
    read: Callable[[], bytes]
    refused: str = ""


@dataclass(frozen=True, slots=True)
class Member:
    """A file of an archive. `data` is None when it is not wanted or larger than wanted."""

    path: str
    size: int
    data: bytes | None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A path that was not looked into. `grave`: not ordinary, so that the reading is not complete."""

    path: str
    why: str
    grave: bool


class ArchiveDamaged(Exception):
    """The archive cannot be read further; the message says why, without offsets of ours."""


class EntryDamaged(Exception):
    """One entry cannot be read; the next ones can."""
