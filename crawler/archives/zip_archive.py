"""Reads zip archives (APPNOTE 6.3.10) by their central directory; contradicting or overlapping entries are refused."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from functools import partial
from typing import BinaryIO, Final

from msgspec import Struct
from msgspec.structs import replace

from crawler.archives.entries import ArchiveDamaged, Bounds, Entry, EntryDamaged, EntryKind
from crawler.archives.entry_names import decode_entry_name

MAGICS: Final = (b"PK\x03\x04", b"PK\x05\x06")

_END: Final = struct.Struct("<4s4H2LH")
_END_64: Final = struct.Struct("<4sQ2H2L4Q")
_LOCATOR_64: Final = struct.Struct("<4sLQL")
_CENTRAL: Final = struct.Struct("<4s6H3L5H2L")
_LOCAL: Final = struct.Struct("<4s5H3L2H")
_LONGEST_COMMENT: Final = 65_535
_FULL_16, _FULL_32 = 0xFFFF, 0xFFFFFFFF
_ENCRYPTED, _UTF8 = 0x1, 0x800
_STORED, _DEFLATED = 0, 8
_UNIX: Final = 3
_TYPES: Final = {0o100000: EntryKind.FILE, 0o040000: EntryKind.FOLDER, 0o120000: EntryKind.LINK, 0: EntryKind.FILE}
_DOS_FOLDER: Final = 0x10
_RAW: Final = -15


class _Row(Struct, frozen=True):
    name: bytes
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    offset: int
    mode: int
    end: int = 0
    overlaps: bool = False


def read_zip_entries(file: BinaryIO, bounds: Bounds) -> Iterator[Entry]:
    """The entries in the order of the directory; raise ArchiveDamaged where the rest cannot be read."""
    start, stop, count = _directory(file)
    if stop - start > bounds.entries * (_CENTRAL.size + bounds.metadata // 64):
        raise ArchiveDamaged("its directory is too large")
    rows = list(_rows(file, start, stop, bounds))
    for row in _without_overlap(rows, start):
        yield _entry(file, row)
    if count != len(rows):
        raise ArchiveDamaged(f"it holds {len(rows)} entries and says {count}")


def _directory(file: BinaryIO) -> tuple[int, int, int]:
    """Start and end of the central directory, and its declared number of entries."""
    length = file.seek(0, 2)
    tail_at = max(0, length - _END.size - _LONGEST_COMMENT)
    file.seek(tail_at)
    tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < _END.size:
        raise ArchiveDamaged("it has no directory, so it may have lost its end")
    _, disk, _, here, count, size, start, _ = _END.unpack_from(tail, at)
    if disk not in {0, _FULL_16} or here != count:
        raise ArchiveDamaged("it is one part of several")
    stop = tail_at + at
    if count == _FULL_16 or _FULL_32 in {size, start}:
        start, size, count, stop = _directory_64(file, stop) or (start, size, count, stop)
    if start + size != stop:
        raise ArchiveDamaged("its directory is not where it says")
    return start, stop, count


def _directory_64(file: BinaryIO, stop: int) -> tuple[int, int, int, int] | None:
    """Start, size, count and end of a ZIP64 directory; None when there is none."""
    if stop < _LOCATOR_64.size + _END_64.size:
        return None
    file.seek(stop - _LOCATOR_64.size)
    magic, _, at, _ = _LOCATOR_64.unpack(file.read(_LOCATOR_64.size))
    if magic != b"PK\x06\x07":
        return None
    if at + _END_64.size > stop:
        raise ArchiveDamaged("its directory is not where it says")
    file.seek(at)
    magic, _, _, _, _, _, _, count, size, start = _END_64.unpack(file.read(_END_64.size))
    if magic != b"PK\x06\x06":
        raise ArchiveDamaged("its directory is not where it says")
    return start, size, count, at


def _rows(file: BinaryIO, start: int, stop: int, bounds: Bounds) -> Iterator[_Row]:
    file.seek(start)
    data = file.read(stop - start)
    at = 0
    # One more than the bound, so that the walk ends there with a reason.
    for _ in range(bounds.entries + 1):
        if at >= len(data):
            return
        if len(data) - at < _CENTRAL.size or data[at : at + 4] != b"PK\x01\x02":
            raise ArchiveDamaged("its directory cannot be read")
        (_, made, _, flags, method, _, _, crc, packed, size, names, extras, comment, _, _, outer, offset) = (
            _CENTRAL.unpack_from(data, at)
        )
        begin = at + _CENTRAL.size
        name, extra = data[begin : begin + names], data[begin + names : begin + names + extras]
        at = begin + names + extras + comment
        if at > len(data):
            raise ArchiveDamaged("its directory cannot be read")
        size, packed, offset = _wide(extra, size, packed, offset)
        mode = outer >> 16 if made >> 8 == _UNIX else (0o040000 if outer & _DOS_FOLDER else 0)
        yield _Row(name, flags, method, crc, packed, size, offset, mode)


def _wide(extra: bytes, *values: int) -> tuple[int, int, int]:
    """Sizes and offset from the ZIP64 extra field, where the 32-bit fields are full."""
    wide = b""
    while len(extra) >= 4:
        ident, length = struct.unpack_from("<2H", extra)
        if ident == 1:
            wide = extra[4 : 4 + length]
        extra = extra[4 + length :]
    found = []
    for value in values:
        if value == _FULL_32 and len(wide) >= 8:
            value, wide = int.from_bytes(wide[:8], "little"), wide[8:]  # noqa: PLW2901 - the same value, wider
        found.append(value)
    return found[0], found[1], found[2]


def _without_overlap(rows: list[_Row], limit: int) -> list[_Row]:
    """The rows in order; rows whose data overlap another's or exceed the data are marked."""
    reached, marked = 0, dict[int, _Row]()
    for at in sorted(range(len(rows)), key=lambda index: rows[index].offset):
        row = rows[at]
        end = row.offset + _LOCAL.size + len(row.name) + row.packed
        marked[at] = replace(row, end=limit, overlaps=row.offset < reached or end > limit)
        reached = max(reached, end)
    return [marked[at] for at in range(len(rows))]


def _entry(file: BinaryIO, row: _Row) -> Entry:
    name = decode_entry_name(row.name) if row.flags & _UTF8 or row.name.isascii() else _older_name(row.name)
    kind = EntryKind.FOLDER if name.endswith(("/", "\\")) else _TYPES.get(row.mode & 0o170000, EntryKind.SPECIAL)
    refused = "overlaps another entry" if row.overlaps else ""
    return Entry(name, kind, row.size, partial(_content, file, row), refused)


def _older_name(name: bytes) -> str:
    """A name without the UTF-8 flag: most tools write UTF-8 all the same, the standard says code page 437."""
    try:
        return name.decode()
    except UnicodeDecodeError:
        return name.decode("cp437")


def _content(file: BinaryIO, row: _Row) -> bytes:
    if row.flags & _ENCRYPTED:
        raise EntryDamaged("it is encrypted")
    if row.method not in {_STORED, _DEFLATED}:
        raise EntryDamaged(f"compressed by method {row.method}")
    file.seek(row.offset)
    header = file.read(_LOCAL.size)
    if len(header) < _LOCAL.size or not header.startswith(b"PK\x03\x04"):
        raise EntryDamaged("it is not where the directory says")
    _, _, flags, method, _, _, _, _, _, names, extras = _LOCAL.unpack(header)
    if file.read(names) != row.name or method != row.method or (flags ^ row.flags) & _ENCRYPTED:
        raise EntryDamaged("the directory describes it otherwise")
    file.seek(extras, 1)
    if file.tell() + row.packed > row.end:
        raise EntryDamaged("it is not where the directory says")
    data = _inflated(file.read(row.packed), row)
    if len(data) != row.size or zlib.crc32(data) != row.crc:
        raise EntryDamaged("its content is not what the directory says")
    return data


def _inflated(packed: bytes, row: _Row) -> bytes:
    if row.method == _STORED:
        return packed[: row.size + 1]
    try:
        return zlib.decompressobj(_RAW).decompress(packed, row.size + 1)
    except zlib.error as error:
        raise EntryDamaged("its compressed data is corrupt") from error
