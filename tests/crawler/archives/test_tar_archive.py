"""Tar archives of strangers are read whole or say why not, in bounded time and memory."""

from __future__ import annotations

import gzip
import io
import tarfile
import tracemalloc

import pytest

from crawler.archives import ArchiveWalk, Bounds
from tests.crawler.archives.building import block, files, pax, tarball, walked
from tests.durations import cpu_below


def test_files_of_an_honest_archive_are_read_without_their_folder() -> None:
    found, walk = walked(files([("README.md", b"hello"), ("src/a.py", b"x = 1")]))
    assert found == {"README.md": b"hello", "src/a.py": b"x = 1"}
    assert (walk.complete, walk.skipped, walk.entries) == (True, [], 2)


@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT])
def test_what_tarfile_writes_is_read(form: int) -> None:
    names = ["top/" + "n" * 60 + "/" + "m" * 90 + ".py", "top/a"]
    if form != tarfile.USTAR_FORMAT:
        names += ["top/" + "deep/" * 20 + "m" * 120, "top/größe.py"]
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", format=form) as archive:
        for name in names:
            info = tarfile.TarInfo(name)
            info.size = 3
            archive.addfile(info, io.BytesIO(b"abc"))
    found, walk = walked(out.getvalue())
    assert list(found) == [name.removeprefix("top/") for name in names]
    assert set(found.values()) == {b"abc"}
    assert walk.complete


def test_what_git_archives_is_read() -> None:
    # A global header with the commit stands in front of all (git-archive).
    commit = block(b"pax_global_header", b"52 comment=" + b"c" * 40 + b"\n", flag=b"g")
    found, walk = walked(tarball(commit, block(b"acme-x-c0ffee/", flag=b"5"), block(b"acme-x-c0ffee/a.py", b"1")))
    assert (found, walk.complete) == ({"a.py": b"1"}, True)


def test_an_archive_without_compression_is_read() -> None:
    assert walked(gzip.decompress(files([("a", b"1")])))[0] == {"a": b"1"}


@pytest.mark.parametrize(
    ("name", "why"),
    [
        (b"top/../../etc/passwd", "out of the archive"),
        (b"top\\..\\..\\evil", "out of the archive"),
        (b"/etc/passwd", "absolute"),
        (b"\\\\host\\share", "absolute"),
        (b"C:\\evil", "absolute"),
        (b"top/" + b"d/" * 45 + b"f", "folders deep"),
        (b"top/a\x01b", "control characters"),
        (b"top", "outside of the archive's folder"),
    ],
)
def test_a_name_that_leads_elsewhere_is_refused_and_recorded(name: bytes, why: str) -> None:
    found, walk = walked(tarball(block(name, b"x"), block(b"top/ok", b"y")))
    assert found == {"ok": b"y"}
    assert why in walk.skipped[0].why
    assert not walk.complete


def test_names_that_are_too_long_are_refused() -> None:
    long, part = "top/" + "a/" * 10 + "b" * 1_020, "top/" + "c" * 300
    data = tarball(pax(path=long), block(b"x", b"1"), pax(path=part), block(b"y", b"2"))
    found, walk = walked(data)
    assert found == {}
    assert ["more than 1024" in walk.skipped[0].why, "more than 255" in walk.skipped[1].why] == [True, True]
    assert len(walk.skipped[0].path) <= 200


@pytest.mark.parametrize("flag", [b"3", b"4", b"6", b"S", b"Z"])
def test_devices_pipes_and_unknown_kinds_are_refused(flag: bytes) -> None:
    found, walk = walked(tarball(block(b"top/dev", flag=flag), block(b"top/ok", b"y")))
    assert (found, walk.graves) == ({"ok": b"y"}, 1)


@pytest.mark.parametrize("flag", [b"1", b"2"])
def test_links_are_not_followed_and_ordinary(flag: bytes) -> None:
    # The size that a link states is no content: what follows is the next header.
    found, walk = walked(tarball(block(b"top/passwd", flag=flag, size=4096), block(b"top/ok", b"y")))
    assert found == {"ok": b"y"}
    assert ([(one.path, one.why) for one in walk.skipped], walk.complete) == ([("passwd", "a link")], True)


@pytest.mark.parametrize("other", ["A.py", "a.PY", "a.py", "./a.py", "x/../a.py"])
def test_the_first_of_two_entries_of_one_name_stands(other: str) -> None:
    found, walk = walked(files([("a.py", b"1"), (other, b"2")]))
    assert (found, walk.complete) == ({"a.py": b"1"}, False)


def test_unicode_forms_of_one_name_collide() -> None:
    found, walk = walked(files([("\u00e9", b"1"), ("e\u0301", b"2"), ("\ufb01", b"3"), ("fi", b"4")]))
    assert (list(found.values()), walk.graves) == ([b"1", b"3"], 2)


def test_a_name_that_is_no_utf_8_is_readable() -> None:
    found, walk = walked(tarball(block(b"top/\xff\xfe.py", b"1")))
    assert (found, walk.complete) == ({"%FF%FE.py": b"1"}, True)


def test_a_large_file_is_passed_over_by_its_header() -> None:
    found, walk = walked(tarball(block(b"top/big", bytes(3 << 20)), block(b"top/ok", b"y")))
    assert found == {"big": None, "ok": b"y"}
    assert ("more than" in walk.skipped[0].why, walk.complete) == (True, True)


def _zeros(size: int) -> bytes:
    """A gzip file of one tar entry of zeros, as small as gzip makes it."""
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=9, mtime=0) as stream:
        stream.write(block(b"top/zeros", size=size))
        for _ in range(size >> 20):
            stream.write(bytes(1 << 20))
    return out.getvalue()


def test_a_bomb_ends_at_its_bound_in_little_memory() -> None:
    data = _zeros(64 << 20)
    assert len(data) < 100_000
    tracemalloc.start()
    found, walk = walked(data, bounds=Bounds(unpacked=8 << 20))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == {"zeros": None}
    assert "bytes unpacked" in walk.ended
    assert peak < 4 << 20


def test_a_file_as_large_as_a_disk_ends_the_walk_at_once() -> None:
    data = tarball(block(b"top/ok", b"y"), block(b"top/huge", b"z", size=b"\x80" + (1 << 60).to_bytes(11, "big")))
    with cpu_below(3):
        found, walk = walked(data)
        assert found == {"ok": b"y", "huge": None}
        assert "bytes unpacked" in walk.ended


@pytest.mark.parametrize(
    ("blocks", "why"),
    [
        ((block(b"top/n", b"x", size=b"\xff" * 12),), "negative size"),
        ((block(b"top/n", b"x", size=b"9bogus\0\0\0\0\0\0"),), "not a number"),
        ((pax(size="-1"), block(b"top/n", b"x")), "not a number"),
        ((block(b"x", b"999999 path=a\n", flag=b"x"), block(b"top/n")), "cannot be read"),
        ((block(b"x", b"0 path=a\n", flag=b"x"), block(b"top/n")), "cannot be read"),
        ((block(b"x", b"7", size=1 << 30, flag=b"x"),), "metadata"),
        ((block(b"x", b"7", size=1 << 30, flag=b"L"),), "metadata"),
        ((b"\x01" * 512,), "not a tar.gz"),
    ],
)
def test_headers_that_lie_end_the_walk_with_the_reason(blocks: tuple[bytes, ...], why: str) -> None:
    data = gzip.decompress(tarball(*blocks)) if why == "not a tar.gz" else tarball(*blocks)
    found, walk = walked(data)
    assert (found, why in walk.ended, walk.complete) == ({}, True, False)


def test_a_chain_of_headers_is_bounded_and_not_recursive() -> None:
    data = tarball(*([pax(comment="x")] * 5_000), block(b"top/ok", b"y"))
    assert walked(data)[0] == {"ok": b"y"}
    assert "headers" in walked(data, bounds=Bounds(entries=1_000))[1].ended


def test_a_sparse_file_is_refused() -> None:
    found, walk = walked(tarball(pax(GNU__sparse__map="0,1"), block(b"top/s", b"x"), block(b"top/ok", b"y")))
    assert (found, walk.skipped[0].why) == ({"ok": b"y"}, "a sparse file")


def test_a_truncated_archive_gives_what_it_has() -> None:
    data = files([("a", b"1" * 600), ("b", bytes(range(256)) * 200)])
    found, walk = walked(data[:-300])
    assert (found.get("a"), walk.complete) == (b"1" * 600, False)
    for cut in range(0, len(data) - 1, 7):
        found, walk = walked(data[:cut])
        assert len(found) == 2 or not walk.complete
    assert not walked(gzip.decompress(data)[:1024])[1].complete


def test_corrupt_data_never_raises() -> None:
    data = files([(f"f{at}", bytes([at]) * 700) for at in range(20)])
    for at in range(0, len(data), 3):
        spoilt = bytearray(data)
        spoilt[at] ^= 0x55
        walked(bytes(spoilt))
        walked(gzip.decompress(data)[:at] + b"\xff" + gzip.decompress(data)[at + 1 :])


def test_gzip_members_are_joined_and_counted() -> None:
    plain = gzip.decompress(files([("a", b"1")]))
    joined = gzip.compress(plain[:700]) + gzip.compress(plain[700:]) + b"\0\0 rest"
    assert walked(joined)[0] == {"a": b"1"}
    empty = gzip.compress(b"") * 2_000 + files([("a", b"1")])
    assert "compressed members" in walked(empty)[1].ended


def test_a_hundred_thousand_files_end_at_the_bound_on_entries() -> None:
    data = gzip.compress(block(b"top/f", b"") * 10 + bytes(1024))
    assert walked(data, bounds=Bounds(entries=5))[1].ended == "more than 5 entries"


def test_nothing_is_written_anywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[object] = []
    monkeypatch.setattr("builtins.open", lambda *args, **_: opened.append(args))
    list(ArchiveWalk(io.BytesIO(files([("a", b"1")])), lambda _: 10))
    assert opened == []


@pytest.mark.soak
def test_a_hundred_thousand_files_take_seconds() -> None:
    data = tarball(*(block(b"top/%d" % at, b"x") for at in range(100_000)))
    with cpu_below(20):
        found, walk = walked(data)
        assert (len(found), walk.complete) == (100_000, True)
