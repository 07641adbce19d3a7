"""Reads untrusted archives and folders of projects file by file. Nothing is ever written to a disk."""

from crawler.archives.archive_walk import ArchiveWalk
from crawler.archives.entries import ArchiveDamaged, Bounds, Entry, EntryKind, Member, Skipped
from crawler.archives.folder import Folder

__all__ = ["ArchiveDamaged", "ArchiveWalk", "Bounds", "Entry", "EntryKind", "Folder", "Member", "Skipped"]
