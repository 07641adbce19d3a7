"""Reads a folder on disk as if it were an archive: without links, installed code, caches and ignored files.

Every file is opened relative to the descriptor of its folder and never through a link, so nothing outside is read even
when the folder changes meanwhile. Nothing is written.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Final

from msgspec import Struct

from crawler.archives.entries import ArchiveDamaged, Bounds, Entry, EntryDamaged, EntryKind
from crawler.archives.entry_names import decode_entry_name
from crawler.archives.ignore_rules import MAX_BYTES as MAX_IGNORE
from crawler.archives.published_files import NOTHING, FolderRules, ReleaseContents

_LEFT_OUT: Final = frozenset(
    {"node_modules", "bower_components", "site-packages", "__pycache__", "__pypackages__", ".venv", ".tox", ".nox",
     ".eggs", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".yarn", ".pnpm-store", ".hg", ".svn"}
)  # fmt: skip
"""Folders of installed code and caches, which the author did not write."""

_MARKS: Final = ("pyvenv.cfg", "CACHEDIR.TAG")
"""Files that mark a virtual environment and a cache."""

_GIT: Final = ".git"
_GIT_CONFIG: Final = "config"  # the one file of .git in which people leave credentials
_SHARED: Final = frozenset({".github", ".circleci", "docs"})
"""Folders of a repository's root whose documents apply to each project in it."""

IGNORED: Final = "git ignores it, and no release holds it"
INSTALLED: Final = "installed code or a cache"

_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_DIRECTORY | os.O_CLOEXEC


class Folder(Struct, frozen=True):
    """An open folder; the owner closes its descriptor."""

    descriptor: int

    def fileno(self) -> int:
        return self.descriptor


@dataclass(slots=True)
class FolderReading:
    """Iterates over the files below `folder`, sorted. With `project`, a path in it, mainly over those of the project.

    Outside of the project only the files of the root and its shared documents are of interest. Files that git ignores
    are left out unless they are in a release, by `release`. `left_out` and `published` list both, with the reason.
    """

    folder: Folder
    bounds: Bounds
    project: str = ""
    release: ReleaseContents = NOTHING
    left_out: dict[str, str] = field(default_factory=dict, init=False)
    published: list[str] = field(default_factory=list, init=False)
    _seen: int = field(default=0, init=False)

    def entries(self) -> Iterator[Entry]:
        yield from self._read(self.folder.fileno(), "", FolderRules.at_root(self.release))

    def _read(self, at: int, path: str, rules: FolderRules) -> Iterator[Entry]:
        names = self._list(at)
        if names is None:
            yield _unreadable(path, "the folder cannot be listed")
            return
        rules = rules.extend(path, _read_file(at, ".gitignore", names), _read_file(at, ".npmignore", names))
        folders = []
        for name, info in sorted(names.items()):
            inner = f"{path}/{name}" if path else name
            if stat.S_ISDIR(info.st_mode):
                folders.append((name, inner))
            elif self._is_file_wanted(inner, rules):
                yield from self._file(at, name, inner, info)
        for name, inner in folders:
            if self._is_wanted(name, inner, rules):
                yield from self._open(at, name, inner, self._enter(inner, rules))

    def _enter(self, path: str, rules: FolderRules) -> FolderRules:
        """The rules in a folder. The project itself and the folders around it are read, whatever is ignored."""
        return rules if self._is_around_project(path) else rules.enter(path)

    def _open(self, parent: int, name: str, path: str, rules: FolderRules) -> Iterator[Entry]:
        if path.count("/") >= self.bounds.depth:
            yield _unreadable(path, f"more than {self.bounds.depth} folders deep")
            return
        try:
            at = os.open(name, _FOLDER, dir_fd=parent)
        except OSError:
            yield _unreadable(path, "the folder cannot be opened")
            return
        try:
            if name == _GIT:
                yield from self._git_config(at, path)
            elif any(_exists(at, mark) for mark in _MARKS):
                self._leave_out(path, INSTALLED)
            else:
                yield from self._read(at, path, rules)
        finally:
            os.close(at)

    def _git_config(self, at: int, path: str) -> Iterator[Entry]:
        names = self._list(at) or {}
        if (info := names.get(_GIT_CONFIG)) is not None:
            yield from self._file(at, _GIT_CONFIG, f"{path}/{_GIT_CONFIG}", info)

    def _is_file_wanted(self, path: str, rules: FolderRules) -> bool:
        if not rules.ignores(path, is_folder=False):
            return True
        if rules.publishes(path):
            self.published.append(decode_path(path))
            return True
        return self._leave_out(path, IGNORED)

    def _is_wanted(self, name: str, path: str, rules: FolderRules) -> bool:
        if self._is_around_project(path):
            return True
        shown = decode_path(path)
        if self.project and not shown.startswith(f"{self.project}/") and path.split("/", maxsplit=1)[0] not in _SHARED:
            return False
        if name in _LEFT_OUT:
            return self._leave_out(path, INSTALLED)
        if rules.ignores(path, is_folder=True) and not rules.may_publish_in(path):
            return self._leave_out(path, IGNORED)
        return True

    def _is_around_project(self, path: str) -> bool:
        return f"{self.project}/".startswith(f"{decode_path(path)}/")

    def _leave_out(self, path: str, why: str) -> bool:
        self.left_out[decode_path(path)] = why
        return False

    def _list(self, at: int) -> dict[str, os.stat_result] | None:
        found = {}
        try:
            with os.scandir(at) as entries:
                for entry in entries:
                    self._seen += 1
                    if self._seen > self.bounds.entries:
                        raise ArchiveDamaged(f"more than {self.bounds.entries} entries")
                    found[entry.name] = entry.stat(follow_symlinks=False)
        except OSError:
            return None
        return found

    def _file(self, at: int, name: str, path: str, info: os.stat_result) -> Iterator[Entry]:
        shown = decode_path(path)
        if stat.S_ISLNK(info.st_mode):
            yield Entry(shown, EntryKind.LINK, 0, bytes)
        elif stat.S_ISREG(info.st_mode):
            yield Entry(shown, EntryKind.FILE, info.st_size, lambda: _read_whole(at, name, info.st_size))


def decode_path(path: str) -> str:
    """A path of this machine as text; bytes that are not UTF-8 are percent-encoded."""
    return decode_entry_name(os.fsencode(path))


def open_regular_file(path: str | Path, folder: int | None = None) -> BinaryIO:
    """Open a file, in an open folder; raises OSError for a link, a folder, a pipe or a device."""
    opened = os.open(path, _FILE, dir_fd=folder)
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return os.fdopen(opened, "rb")


def _read_whole(at: int, name: str, size: int) -> bytes:
    try:
        file = open_regular_file(name, at)
    except OSError as error:
        raise EntryDamaged("it cannot be opened") from error
    with file:
        try:
            return file.read(size)
        except OSError as error:
            raise EntryDamaged("it cannot be read") from error


def _read_file(at: int, name: str, names: dict[str, os.stat_result]) -> bytes | None:
    info = names.get(name)
    if info is None or not stat.S_ISREG(info.st_mode):
        return None
    try:
        return _read_whole(at, name, MAX_IGNORE)
    except EntryDamaged:
        return None


def _exists(at: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=at, follow_symlinks=False)
    except OSError:
        return False
    return True


def _unreadable(path: str, why: str) -> Entry:
    return Entry(decode_path(path) or ".", EntryKind.FILE, 0, bytes, refused=why)
