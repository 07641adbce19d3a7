"""Pages of servers that were made ahead, on this machine's disk: one file for each stamp, in a folder of the site.

The stamp names all that such pages were made from, so a file is either right as a whole or belongs to nobody and is
dropped. Everything here may be deleted at any time, and whatever is wrong with it costs no more than making the page.
"""

from __future__ import annotations

import mmap
import os
import sqlite3
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Final, TypeAlias
from urllib.parse import quote
from uuid import uuid4

from zstandard import DICT_TYPE_RAWCONTENT, ZstdCompressionDict, ZstdCompressor, ZstdDecompressor, ZstdError

from evidence.model import ServerId

LOOK: Final = 1.0
"""Seconds after which it is looked whether there is a file, or another one."""

REST: Final = 60.0
"""Seconds for which a file is left alone that could not be read."""

SAMPLE: Final = 256 * 1024
"""Bytes of pages by which the others are compressed: most of a page is the same on all of them."""

FAILURES: Final = (sqlite3.Error, OSError, ZstdError)

_SUFFIX: Final = ".pages"
_BUSY: Final = 0.05
_WRITING: Final = 10.0
_LEVEL: Final = 3
_PAGE_BYTES: Final = 16_384  # a body of some 3 KB lies in one, and is one look at a disk
_COMPLETE: Final = 1
_DAMAGED: Final = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_TABLES: Final = (
    "CREATE TABLE sample (body BLOB NOT NULL)",
    "CREATE TABLE page (server TEXT PRIMARY KEY, indexed INTEGER NOT NULL, body BLOB)",
)
_KNOWN: Final = "SELECT 1 FROM page WHERE server = ?"
_FIND: Final = "SELECT indexed, body FROM page WHERE server = ?"
_PUT: Final = "INSERT OR REPLACE INTO page VALUES (?, ?, ?)"

Told: TypeAlias = Callable[[str], None]


class Gone(Exception):
    """The file was deleted while pages were written to it."""


class Full(Exception):
    """There is no room for more pages."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page as it is answered; `index` lets search engines list it."""

    body: bytes
    index: bool


def _nobody(_: str) -> None:
    pass


class PreparedPages:
    """The files of a folder, of at most `most` bytes; `about` says of which database. Threads may share it.

    `told` hears, once for each file, why it cannot be read.
    """

    def __init__(
        self, folder: Path, most: int, *, monotonic: Callable[[], float], about: str = "", told: Told = _nobody
    ) -> None:
        self.folder, self.most, self.about = folder, most, about
        self._monotonic = monotonic
        self._told = told
        self._lock = Lock()
        self._stamp = ""
        self._inode: int | None = None
        self._file: _Reading | None = None
        self._again = 0.0
        self._blamed = ""
        self._held: mmap.mmap | None = None

    def find(self, stamp: str, server: ServerId) -> Page | None:
        """The page of a server; None when there is none, and when it cannot be read."""
        with self._lock:
            try:
                file = self._opened(stamp)
                return None if file is None else file.find(server)
            except FAILURES as error:
                self._leave(stamp, error)
                return None

    def writing(self, stamp: str) -> PageFile:
        """The file of a stamp to write to, made if it is not there; raise one of FAILURES."""
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self.path(stamp)
        if not path.exists():
            _make(path)
        return PageFile(path, self.most)

    def is_complete(self, stamp: str) -> bool:
        """Whether all pages of a stamp are there that can be made ahead, as somebody noted who had looked at each."""
        try:
            with closing(_connect(self.path(stamp), _BUSY)) as connection:
                return bool(connection.execute("PRAGMA user_version").fetchone()[0] == _COMPLETE)
        except FAILURES:
            return False

    def complete(self, stamp: str) -> None:
        """Note that they are there; raise one of FAILURES."""
        with closing(_connect(self.path(stamp), _WRITING)) as connection:
            connection.execute(f"PRAGMA user_version = {_COMPLETE}")

    def hold(self, stamp: str) -> None:
        """Have the file of a stamp in memory until it is held again or closed; this waits for the disk.

        It is mapped: what no process has mapped some systems drop after half a minute, with memory to spare, and a page
        that comes from the disk keeps all others waiting that the same process answers. Not to be called while this
        process writes pages: to close a file ends the locks that SQLite has on it.
        """
        before, self._held = self._held, _mapped(self.path(stamp))
        if before is not None:  # after the new one, or the system might drop the file in between
            before.close()

    def drop_others(self, stamp: str) -> None:
        """Delete the files of all other stamps, and what an interrupted process left."""
        for path in self.folder.glob(f"*{_SUFFIX}*"):
            if not path.name.startswith(stamp):
                path.unlink(missing_ok=True)

    def drop(self, stamp: str) -> None:
        """Delete the file of a stamp."""
        for path in self.folder.glob(f"{stamp}{_SUFFIX}*"):
            path.unlink(missing_ok=True)

    def size(self) -> int:
        """Bytes of all files."""
        found = 0
        for path in self.folder.glob(f"*{_SUFFIX}*"):
            with suppress(OSError):
                found += path.stat().st_size
        return found

    def path(self, stamp: str) -> Path:
        """Where the file of a stamp is."""
        return self.folder / f"{stamp}{_SUFFIX}"

    def close(self) -> None:
        """Close the file that is read, and hold none."""
        with self._lock:
            self._shut()
        if self._held is not None:
            self._held.close()
            self._held = None

    def _opened(self, stamp: str) -> _Reading | None:
        """The file, looked for again after a while: it may have been deleted, or be there by now."""
        now = self._monotonic()
        if stamp == self._stamp and now < self._again:
            return self._file
        inode = _inode(self.path(stamp))
        if stamp != self._stamp or inode != self._inode or self._file is None:
            self._shut()
            self._stamp, self._inode = stamp, inode
            self._file = None if inode is None else _Reading(self.path(stamp))
        self._again = now + LOOK
        return self._file

    def _leave(self, stamp: str, error: Exception) -> None:
        """Go on without the file for a while. A damaged one is deleted, so that it is made again."""
        self._shut()
        self._stamp, self._again = stamp, self._monotonic() + REST
        if is_damaged(error):
            with suppress(OSError):
                self.drop(stamp)
        if self._blamed != stamp:
            self._blamed = stamp
            self._told(f"{type(error).__name__}: {error}")

    def _shut(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


class _Reading:
    """A file that pages are read from."""

    def __init__(self, path: Path) -> None:
        self._connection = _connect(path, _BUSY)
        self._decompressor: ZstdDecompressor | None = None

    def find(self, server: ServerId) -> Page | None:
        row = self._connection.execute(_FIND, (server,)).fetchone()
        if row is None or row[1] is None:
            return None
        if self._decompressor is None:
            self._decompressor = ZstdDecompressor(dict_data=_dictionary(_sample(self._connection)))
        return Page(self._decompressor.decompress(row[1]), bool(row[0]))

    def close(self) -> None:
        self._connection.close()


class PageFile:
    """A file that pages are written to."""

    def __init__(self, path: Path, most: int) -> None:
        self._path, self._most = path, most
        self._connection = _connect(path, _WRITING)
        self._inode = _inode(path)
        self._compressor: ZstdCompressor | None = None

    def missing(self, servers: Sequence[ServerId]) -> list[ServerId]:
        """Those of the servers whose pages were neither made nor refused; raise Gone."""
        if self._inode is None or _inode(self._path) != self._inode:
            raise Gone
        return [one for one in servers if self._connection.execute(_KNOWN, (one,)).fetchone() is None]

    def put(self, pages: Mapping[ServerId, Page]) -> int:
        """Write pages, all or none; how many bytes they take. Raise Full."""
        bodies = [page.body for page in pages.values()]
        if not bodies:
            return 0
        with self._written():
            if self._compressor is None:
                self._compressor = self._compressing(b"".join(bodies)[:SAMPLE])
            compressed = [self._compressor.compress(body) for body in bodies]
            taken = sum(map(len, compressed))
            # Before anything is written: what SQLite adds to it is a few pages of its own.
            if self.size + taken > self._most:
                raise Full
            rows = zip(pages, [page.index for page in pages.values()], compressed, strict=True)
            self._connection.executemany(_PUT, rows)
        return taken

    def refuse(self, server: ServerId) -> None:
        """Note that the page of a server cannot be made, so that nobody tries again."""
        with self._written():
            self._connection.execute(_PUT, (server, False, None))

    @property
    def size(self) -> int:
        """Bytes of the file, and of what is not joined to it yet."""
        parts = (self._path, self._path.with_name(f"{self._path.name}-wal"))
        return sum(part.stat().st_size for part in parts if part.exists())

    def close(self) -> None:
        """Close it."""
        self._connection.close()

    @contextmanager
    def _written(self) -> Iterator[None]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK")
            self._compressor = None
            raise
        self._connection.execute("COMMIT")

    def _compressing(self, sample: bytes) -> ZstdCompressor:
        """By the sample of the file, which is that of whoever wrote first."""
        if self._connection.execute("SELECT count(*) FROM sample").fetchone()[0]:
            sample = _sample(self._connection)
        else:
            self._connection.execute("INSERT INTO sample VALUES (?)", (sample,))
        known = _dictionary(sample)
        known.precompute_compress(level=_LEVEL)
        return ZstdCompressor(dict_data=known, write_checksum=True)


def is_damaged(error: Exception) -> bool:
    """Whether a file has to be made again, and not only left alone for a while."""
    return isinstance(error, ZstdError) or getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED


def _mapped(path: Path) -> mmap.mmap | None:
    """A file with all of its pages in memory; None where there is none. Nothing is ever read from what this returns."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:
        return None
    try:
        # Linux alone can be told to read all of it at once.
        now = mmap.MAP_POPULATE if sys.platform == "linux" else 0
        return mmap.mmap(handle, 0, flags=mmap.MAP_SHARED | now, prot=mmap.PROT_READ)
    except (OSError, ValueError):  # an empty file, or no room for the map
        return None
    finally:
        os.close(handle)


def _make(path: Path) -> None:
    """An empty file, which has its name only when it is complete; of two who make it the first wins."""
    partial = path.with_name(f"{path.name}.{uuid4().hex}")
    try:
        partial.touch(mode=0o600)
        with closing(_connect(partial, _WRITING)) as connection:
            connection.execute(f"PRAGMA page_size = {_PAGE_BYTES}")
            connection.execute("PRAGMA journal_mode = WAL")
            for statement in _TABLES:
                connection.execute(statement)
        with suppress(FileExistsError):
            path.hardlink_to(partial)
    finally:
        partial.unlink(missing_ok=True)


def _connect(path: Path, patience: float) -> sqlite3.Connection:
    """A connection that makes no file, for threads that take turns."""
    address = f"file:{quote(str(path))}?mode=rw"
    connection = sqlite3.connect(address, patience, uri=True, isolation_level=None, check_same_thread=False)
    # A crash of the machine may damage the file: it is made again then.
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("PRAGMA wal_autocheckpoint = 64")  # a megabyte: it counts against the bound, too
    return connection


def _sample(connection: sqlite3.Connection) -> bytes:
    body: bytes = connection.execute("SELECT body FROM sample").fetchone()[0]
    return body


def _dictionary(sample: bytes) -> ZstdCompressionDict:
    return ZstdCompressionDict(sample, dict_type=DICT_TYPE_RAWCONTENT)


def _inode(path: Path) -> int | None:
    try:
        return path.stat().st_ino
    except OSError:
        return None
