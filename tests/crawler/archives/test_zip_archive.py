"""Zip archives of strangers are read as their directory has them, and what contradicts it is refused."""

from __future__ import annotations

import io
import struct
import tracemalloc
import zipfile

import pytest

from crawler.archives import Bounds
from tests.crawler.archives.building import Zipped, walked, zipped
from tests.durations import cpu_below


def test_what_zipfile_writes_is_read() -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("p/a.py", "x = 1")
        archive.writestr("p/größe.py", "y")
        archive.writestr(zipfile.ZipInfo("p/stored"), "z")
    found, walk = walked(out.getvalue(), strip=0)
    assert found == {"p/a.py": b"x = 1", "p/größe.py": b"y", "p/stored": b"z"}
    assert walk.complete


def test_entries_of_unknown_length_are_read() -> None:
    class Unseekable(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def tell(self) -> int:
            raise OSError

        def seek(self, *_: int) -> int:
            raise OSError

    out = Unseekable()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a", "abc")
    assert walked(out.getvalue(), strip=0)[0] == {"a": b"abc"}


def test_the_64_bit_form_is_read() -> None:
    extra = struct.pack("<2H2Q", 1, 16, 3, 5)
    data = zipped(Zipped(name=b"a", data=b"abc", said=0xFFFFFFFF, extra=extra))
    assert walked(data, strip=0)[0] == {"a": b"abc"}


@pytest.mark.parametrize("size", [1 << 62, 7, 0])
def test_a_lie_in_the_64_bit_form_is_refused_or_passed_over(size: int) -> None:
    extra = struct.pack("<2HQ", 1, 8, size)
    with cpu_below(3):
        found, walk = walked(zipped(Zipped(name=b"a", data=b"abc", said=0xFFFFFFFF, extra=extra)), strip=0)
        assert found == ({"a": None} if size == 1 << 62 else {})
        assert walk.skipped


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        (Zipped(name=b"../../etc/x", data=b"1"), "out of the archive"),
        (Zipped(name=b"/etc/x", data=b"1"), "absolute"),
        (Zipped(name=b"..\\x", data=b"1"), "out of the archive"),
        (Zipped(name=b"l", data=b"/etc/passwd", mode=0o120777), "a link"),
        (Zipped(name=b"f", mode=0o010644), "a device"),
        (Zipped(name=b"e", data=b"1", flags=1), "encrypted"),
        (Zipped(name=b"m", data=b"1", method=14), "method 14"),
        (Zipped(name=b"n", data=b"1", local_name=b"q"), "otherwise"),
        (Zipped(name=b"c", data=b"1", crc=7), "not what the directory says"),
        (Zipped(name=b"s", data=b"12345", said=3), "not what the directory says"),
        (Zipped(name=b"t", data=b"12345", said=9), "not what the directory says"),
        (Zipped(name=b"k", data=bytes(range(100)), packed=50), "not what the directory says"),
        (Zipped(name=b"o", data=b"1", at=9_999), "overlaps"),
        (Zipped(name=b"w", data=b"1", at=1), "overlaps"),
    ],
)
def test_an_entry_that_lies_is_refused_and_the_others_are_read(entry: Zipped, why: str) -> None:
    found, walk = walked(zipped(Zipped(name=b"ok", data=b"y"), entry), strip=0)
    assert (found, len(walk.skipped)) == ({"ok": b"y"}, 1)
    assert why in walk.skipped[0].why


def test_entries_that_share_their_data_are_read_once() -> None:
    same = Zipped(name=b"a", data=bytes(100_000))
    quoted = [Zipped(name=b"a%d" % at, data=b"", said=100_000, at=0) for at in range(50)]
    found, walk = walked(zipped(same, *quoted), strip=0)
    assert (len(found), walk.graves) == (1, 50)


def test_a_bomb_costs_what_it_says_at_most() -> None:
    bomb = Zipped(name=b"bomb", data=bytes(20 << 20), said=10)
    tracemalloc.start()
    found, walk = walked(zipped(bomb), strip=0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (found, walk.graves) == ({}, 1)
    assert peak < 2 << 20


def test_many_files_end_at_the_bound_on_all_bytes() -> None:
    entries = [Zipped(name=b"%d" % at, data=bytes(1 << 19)) for at in range(20)]
    found, walk = walked(zipped(*entries), strip=0, bounds=Bounds(unpacked=4 << 20))
    assert (len(found), "bytes unpacked" in walk.ended) == (8, True)


def test_an_archive_in_an_archive_stays_closed() -> None:
    inner = zipped(Zipped(name=b"x", data=bytes(1 << 20)))
    for _ in range(5):
        inner = zipped(*(Zipped(name=b"%d.zip" % at, data=inner) for at in range(10)))
    found, walk = walked(inner, strip=0)
    assert (len(found), walk.entries) == (10, 10)


def test_a_directory_that_lies_ends_the_walk() -> None:
    entries = [Zipped(name=b"%d" % at, data=b"1") for at in range(6)]
    assert "entries and says 9" in walked(zipped(*entries, count=9), strip=0)[1].ended
    assert "not where it says" in walked(zipped(*entries, shift=5), strip=0)[1].ended
    assert walked(zipped(*entries), strip=0, bounds=Bounds(entries=4))[1].ended == "more than 4 entries"


def test_truncated_and_corrupt_archives_never_raise() -> None:
    data = zipped(*(Zipped(name=b"f%d" % at, data=bytes([at]) * 90) for at in range(9)))
    for at in range(len(data)):
        assert not walked(data[:at], strip=0)[1].complete
        spoilt = bytearray(data)
        spoilt[at] ^= 0x5A
        walked(bytes(spoilt), strip=0)


def test_older_names_are_readable() -> None:
    found, walk = walked(zipped(Zipped(name="é".encode(), data=b"1"), Zipped(name=b"\x82x", data=b"2")), strip=0)
    assert (set(found), walk.complete) == ({"é", "éx"}, True)
