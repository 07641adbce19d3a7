"""Archives for tests, made byte by byte, so that they can lie."""

from __future__ import annotations

import gzip
import io
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass

from crawler.archives import ArchiveWalk, Bounds, Member


def block(
    name: bytes, data: bytes = b"", *, flag: bytes = b"0", size: int | bytes | None = None, prefix: bytes = b""
) -> bytes:
    """One tar entry with its header; `size` is what the header says."""
    said = len(data) if size is None else size
    field = said if isinstance(said, bytes) else b"%011o\0" % said
    head = name.ljust(100, b"\0") + b"0000644\0" + b"0000000\0" * 2 + field + b"00000000000\0"
    tail = flag + bytes(100) + b"ustar\x0000" + bytes(80) + prefix.ljust(155, b"\0") + bytes(12)
    checksum = b"%06o\0 " % (sum(head) + 8 * 0x20 + sum(tail))
    return head + checksum + tail + data + bytes(-len(data) % 512)


def pax(**records: str | bytes) -> bytes:
    """A pax header for the entry that follows."""
    lines = b""
    for key, value in records.items():
        rest = b" " + key.replace("__", ".").encode() + b"=" + (value if isinstance(value, bytes) else value.encode())
        length = len(rest) + 1
        length = len(str(length + len(str(length)))) + length
        lines += str(length).encode() + rest + b"\n"
    return block(b"pax", lines, flag=b"x")


def tarball(*blocks: bytes) -> bytes:
    """A gzipped tar archive of blocks."""
    return gzip.compress(b"".join(blocks) + bytes(1024), 1, mtime=0)


def files(contents: Iterable[tuple[str, bytes]], *, folder: str = "top") -> bytes:
    """An honest tarball, its files in one folder."""
    return tarball(*(block(f"{folder}/{path}".encode(), data) for path, data in contents))


@dataclass(frozen=True, kw_only=True)
class Zipped:
    """One zip entry and the lies about it; None is the truth."""

    name: bytes
    data: bytes = b""
    method: int = 8
    flags: int = 0
    mode: int = 0o100644
    said: int | None = None
    crc: int | None = None
    local_name: bytes | None = None
    at: int | None = None
    extra: bytes = b""
    packed: int | None = None


def zipped(*entries: Zipped, count: int | None = None, shift: int = 0) -> bytes:
    """A zip archive; `count` and `shift` are lies about the directory."""
    out, rows = b"", b""
    for entry in entries:
        body = entry.data if entry.method == 0 else zlib.compress(entry.data, 9, wbits=-15)
        crc = zlib.crc32(entry.data) if entry.crc is None else entry.crc
        said = len(entry.data) if entry.said is None else entry.said
        packed = len(body) if entry.packed is None else entry.packed
        local = entry.name if entry.local_name is None else entry.local_name
        offset = len(out) if entry.at is None else entry.at
        meta = (entry.flags, entry.method, 0, 0, crc, packed, said)
        out += struct.pack("<4s5H3L2H", b"PK\x03\x04", 20, *meta, len(local), 0) + local + body
        lengths = (len(entry.name), len(entry.extra), 0, 0, 0)
        rows += struct.pack("<4s6H3L5H2L", b"PK\x01\x02", 3 << 8, 20, *meta, *lengths, entry.mode << 16, offset)
        rows += entry.name + entry.extra
    total = len(entries) if count is None else count
    return out + rows + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, total, total, len(rows), len(out) + shift, 0)


def walked(
    data: bytes, *, strip: int = 1, room: int = 1 << 20, bounds: Bounds | None = None
) -> tuple[dict[str, bytes | None], ArchiveWalk]:
    """The files of an archive by path, and the walk that found them."""
    walk = ArchiveWalk(io.BytesIO(data), lambda _: room, strip=strip, bounds=bounds)
    found: list[Member] = list(walk)
    return {member.path: member.data for member in found}, walk
