"""Iterates over the files of an archive or folder once, in order, under bounds. Never raises for their content."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import BinaryIO, Final

from crawler.archives import tar_archive, zip_archive
from crawler.archives.entries import ArchiveDamaged, Bounds, Entry, EntryDamaged, EntryKind, Member, Skipped
from crawler.archives.entry_names import EntryNameRefused, clean_entry_path, displayable_name, file_identity_key
from crawler.archives.folder import Folder, FolderReading
from crawler.archives.gzip_stream import GZIP, ForwardStream, GzipStream
from crawler.archives.published_files import NOTHING, ReleaseContents

MAX_SKIPPED: Final = 1_000
"""Skipped entries that are listed; all are counted."""

_LINK: Final = "a link"


class ArchiveWalk:
    """The files of a folder, or of a tar, tar.gz or zip archive, recognised by its first bytes. Iterate it once.

    `strip` is the number of leading folders to remove from each path. `room` returns how many bytes of a path the
    caller accepts; larger files are skipped. `project` is the path of the project in a folder, and `release` what
    its releases hold. `folder` is the reading of a folder. `ended` says why the walk ended early, empty at the end.
    """

    def __init__(
        self,
        file: BinaryIO | Folder,
        room: Callable[[str], int],
        *,
        strip: int = 0,
        bounds: Bounds | None = None,
        project: str = "",
        release: ReleaseContents = NOTHING,
    ) -> None:
        self._file = file
        self._room = room
        self._strip = strip
        self._bounds = bounds or Bounds()
        self.folder = FolderReading(file, self._bounds, project, release) if isinstance(file, Folder) else None
        self._seen: set[str] = set()
        self._content = 0
        self.skipped: list[Skipped] = []
        self.graves = 0
        self.entries = 0
        self.ended = ""

    @property
    def complete(self) -> bool:
        """Whether every entry was an ordinary file and was passed."""
        return not self.ended and not self.graves

    def __iter__(self) -> Iterator[Member]:
        try:
            for entry in self._entries():
                self.entries += 1
                if self.entries > self._bounds.entries:
                    raise ArchiveDamaged(f"more than {self._bounds.entries} entries")
                member = self._member(entry)
                if member is not None:
                    yield member
        except ArchiveDamaged as damage:
            self.ended = str(damage)

    def _entries(self) -> Iterator[Entry]:
        if isinstance(self._file, Folder):
            assert self.folder is not None
            return self.folder.entries()
        return self._archive_entries(self._file)

    def _archive_entries(self, file: BinaryIO) -> Iterator[Entry]:
        file.seek(0)
        head = file.read(tar_archive.BLOCK)
        file.seek(0)
        if head.startswith(zip_archive.MAGICS):
            return zip_archive.read_zip_entries(file, self._bounds)
        if head.startswith(GZIP):
            return tar_archive.read_tar_entries(GzipStream(file, self._bounds), self._bounds)
        if head[tar_archive.MAGIC_AT] == tar_archive.MAGIC:
            return tar_archive.read_tar_entries(ForwardStream(file, self._bounds), self._bounds)
        raise ArchiveDamaged("it is not a tar.gz, tar or zip archive")

    def _member(self, entry: Entry) -> Member | None:
        try:
            path = clean_entry_path(entry.name, self._bounds, strip=self._strip)
        except EntryNameRefused as refusal:
            self._skip(entry.name, str(refusal), grave=True)
            return None
        if entry.kind is EntryKind.FOLDER:
            return None
        if why := self._refusal(path, entry):
            self._skip(path or entry.name, why, grave=why != _LINK)
            return None
        return self._read(path, entry)

    def _refusal(self, path: str, entry: Entry) -> str:
        match entry.kind:
            case EntryKind.LINK:
                return _LINK
            case EntryKind.SPECIAL:
                return "a device, or nothing that we know"
        if not path:
            return "outside of the archive's folder"
        return entry.refused or (
            "" if self._is_new(path) else "another entry has the same name, perhaps in other letters"
        )

    def _read(self, path: str, entry: Entry) -> Member | None:
        room = self._room(path)
        if entry.size > room:
            if room:
                self._skip(path, f"more than {room} bytes", grave=False)
            return Member(path, entry.size, None)
        self._content += entry.size
        if self._content > self._bounds.unpacked:
            raise ArchiveDamaged(f"more than {self._bounds.unpacked} bytes unpacked")
        try:
            return Member(path, entry.size, entry.read())
        except EntryDamaged as spoiled:
            self._skip(path, str(spoiled), grave=True)
            return None

    def _is_new(self, path: str) -> bool:
        known = file_identity_key(path)
        if known in self._seen:
            return False
        self._seen.add(known)
        return True

    def _skip(self, path: str, why: str, *, grave: bool) -> None:
        self.graves += grave
        if len(self.skipped) < MAX_SKIPPED:
            self.skipped.append(Skipped(displayable_name(path), why, grave))
