"""Files of pages: what is wrong with one costs no more than making the page."""

from __future__ import annotations

import ctypes
import mmap
import os
import random
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from publish.site.prepared import FAILURES, LOOK, REST, Full, Gone, Page, PreparedPages, is_damaged

STAMP, OTHER = "a" * 32, "b" * 32
PAGES = {f"srv_{number:020}": Page(f"<p>{number}</p>".encode() * 200, index=number % 2 == 0) for number in range(20)}
FIRST = next(iter(PAGES))


class Opened:
    def __init__(self, folder: Path) -> None:
        self.now, self.folder, self.told = 0.0, folder, list[str]()
        self.pages = self.another(1 << 20)

    def another(self, most: int) -> PreparedPages:
        return PreparedPages(self.folder, most, monotonic=lambda: self.now, told=self.told.append)

    def put(self) -> None:
        file = self.pages.writing(STAMP)
        file.put(PAGES)
        file.close()


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    made = Opened(tmp_path / "home" / "pages")
    yield made
    made.pages.close()


def test_pages_come_back_as_they_were_put(opened: Opened) -> None:
    opened.put()
    assert {server: opened.pages.find(STAMP, server) for server in PAGES} == PAGES
    assert opened.pages.find(STAMP, "srv_x") is None
    assert opened.pages.find(OTHER, FIRST) is None


def test_nobody_else_of_the_machine_reads_them(opened: Opened) -> None:
    opened.put()
    assert opened.folder.stat().st_mode & 0o077 == 0
    assert opened.pages.path(STAMP).stat().st_mode & 0o077 == 0


def test_a_page_is_there_as_soon_as_it_is_written(opened: Opened) -> None:
    file = opened.pages.writing(STAMP)
    assert opened.pages.find(STAMP, FIRST) is None
    file.put(PAGES)
    assert opened.pages.find(STAMP, FIRST) == PAGES[FIRST]
    file.close()


def in_memory(path: Path) -> float:
    """The share of a file that the system has in memory."""
    handle = os.open(path, os.O_RDWR)
    size = os.fstat(handle).st_size
    with mmap.mmap(handle, size) as mapped:
        os.close(handle)
        states = (ctypes.c_ubyte * -(-size // mmap.PAGESIZE))()
        first = ctypes.c_ubyte.from_buffer(mapped)
        failed = ctypes.CDLL(None).mincore(ctypes.c_void_p(ctypes.addressof(first)), ctypes.c_size_t(size), states)
        del first
    assert failed == 0
    return sum(state & 1 for state in states) / len(states)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux is asked to read all of a file")
def test_a_file_that_is_held_stays_in_memory_when_the_system_drops_what_nobody_has_mapped(opened: Opened) -> None:
    opened.pages.hold(STAMP)  # none is there yet
    opened.put()
    path = opened.pages.path(STAMP)
    drop(path)
    if in_memory(path) == 1:
        pytest.skip("files of this folder are always in memory")
    opened.pages.hold(STAMP)
    assert in_memory(path) == 1
    drop(path)
    assert in_memory(path) == 1
    opened.pages.hold(OTHER)
    drop(path)
    assert in_memory(path) < 1


def drop(path: Path) -> None:
    """Have the system forget a file, as far as no process has it mapped."""
    handle = os.open(path, os.O_RDWR)
    os.fsync(handle)
    os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(handle)


def test_two_who_write_use_one_sample(opened: Opened) -> None:
    one, other = opened.pages.writing(STAMP), opened.another(1 << 20).writing(STAMP)
    servers = list(PAGES)
    one.put({FIRST: PAGES[FIRST]})
    other.put({server: PAGES[server] for server in servers[1:]})
    assert {server: opened.pages.find(STAMP, server) for server in PAGES} == PAGES
    assert one.missing([*servers, "srv_x"]) == ["srv_x"]
    one.close()
    other.close()


def test_no_more_is_written_than_there_is_room_for(opened: Opened) -> None:
    most = 1_000_000
    small = opened.another(most)
    file = small.writing(STAMP)
    chance = random.Random(1)
    with pytest.raises(Full):
        for number in range(1_000):
            file.put({f"srv_{number}": Page(chance.randbytes(10_000), index=True)})
    assert most // 2 < small.size() <= most + 100_000  # what SQLite shares between processes is beside it
    assert file.missing(["srv_0"]) == []
    file.close()


def test_a_refused_page_is_neither_there_nor_missing(opened: Opened) -> None:
    opened.put()
    file = opened.pages.writing(STAMP)
    file.refuse("srv_x")
    assert file.missing(["srv_x", "srv_y"]) == ["srv_y"]
    assert opened.pages.find(STAMP, "srv_x") is None
    file.close()


@pytest.mark.parametrize("harm", ["other", "cut", "inside"])
def test_a_damaged_file_is_told_of_once_and_made_again(opened: Opened, harm: str) -> None:
    opened.put()
    path = opened.pages.path(STAMP)
    body = path.read_bytes()
    if harm == "inside":
        connection = sqlite3.connect(path)
        connection.execute("UPDATE page SET body = CAST(substr(body, 1, 20) || x'00ff00' || substr(body, 24) AS BLOB)")
        connection.commit()
        connection.close()
    else:
        path.write_bytes(b"something else" * 9_000 if harm == "other" else body[: len(body) // 2 + 100])
    assert [opened.pages.find(STAMP, server) for server in PAGES] == [None] * len(PAGES)
    assert len(opened.told) == 1
    assert not path.exists()
    opened.put()
    opened.now += REST
    assert opened.pages.find(STAMP, FIRST) == PAGES[FIRST]
    assert len(opened.told) == 1


def test_a_locked_file_is_left_alone_for_a_while(opened: Opened) -> None:
    opened.put()
    connection = sqlite3.connect(opened.pages.path(STAMP), isolation_level=None)
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute("BEGIN EXCLUSIVE")
    assert [opened.pages.find(STAMP, server) for server in PAGES] == [None] * len(PAGES)
    assert len(opened.told) == 1
    connection.execute("ROLLBACK")
    connection.close()
    assert opened.pages.find(STAMP, FIRST) is None
    opened.now += REST
    assert opened.pages.find(STAMP, FIRST) == PAGES[FIRST]


def test_a_deleted_file_is_noticed_by_who_reads_and_by_who_writes(opened: Opened) -> None:
    opened.put()
    assert opened.pages.find(STAMP, FIRST)
    file = opened.pages.writing(STAMP)
    opened.pages.drop(STAMP)
    with pytest.raises(Gone):
        file.missing([FIRST])
    file.close()
    opened.now += LOOK
    assert opened.pages.find(STAMP, FIRST) is None
    opened.put()
    opened.now += LOOK
    assert opened.pages.find(STAMP, FIRST) == PAGES[FIRST]
    assert opened.told == []


def test_files_of_other_stamps_are_dropped(opened: Opened) -> None:
    opened.put()
    opened.pages.writing(OTHER).close()
    (opened.folder / f"{STAMP}.pages.interrupted").touch()
    opened.pages.drop_others(OTHER)
    assert [path.name for path in opened.folder.iterdir()] == [f"{OTHER}.pages"]


def test_a_folder_that_cannot_be_made_is_a_failure_of_ours(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    pages = PreparedPages(tmp_path / "file" / "pages", 1, monotonic=lambda: 0.0)
    with pytest.raises(FAILURES) as raised:
        pages.writing(STAMP)
    assert not is_damaged(raised.value)
    assert pages.find(STAMP, FIRST) is None
