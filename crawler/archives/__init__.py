"""Reads untrusted archives member by member. Nothing is ever unpacked to a disk."""

from crawler.archives.archive_walk import ArchiveWalk
from crawler.archives.entries import ArchiveDamaged, Bounds, Entry, EntryKind, Member, Skipped

__all__ = ["ArchiveDamaged", "ArchiveWalk", "Bounds", "Entry", "EntryKind", "Member", "Skipped"]
