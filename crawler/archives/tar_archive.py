"""Reads tar archives (POSIX.1-2017 pax, ustar, GNU long names) forward once.

The standard library's reader is not used: in supported Python versions it seeks to positions that a negative size
determines, recurses over chained headers and searches them with a quadratic expression (CVE-2025-8194, CVE-2024-6232).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from crawler.archives.entries import ArchiveDamaged, Bounds, Entry, EntryKind
from crawler.archives.entry_names import decode_entry_name
from crawler.archives.gzip_stream import ForwardStream

BLOCK: Final = 512
MAGIC_AT: Final = slice(257, 262)
MAGIC: Final = b"ustar"

_EMPTY: Final = bytes(BLOCK)
_KINDS: Final = {
    b"0": EntryKind.FILE,
    b"\0": EntryKind.FILE,
    b"7": EntryKind.FILE,
    b"5": EntryKind.FOLDER,
    b"1": EntryKind.LINK,
    b"2": EntryKind.LINK,
}
_GNU_NAME, _GNU_LINK, _PAX, _PAX_GLOBAL = b"L", b"K", b"x", b"g"
_META: Final = {_GNU_NAME, _GNU_LINK, _PAX, _PAX_GLOBAL}
_BINARY: Final = 0x80
_NEGATIVE: Final = 0xFF


def read_tar_entries(stream: ForwardStream, bounds: Bounds) -> Iterator[Entry]:
    """The entries in order; raise ArchiveDamaged where the rest cannot be read."""
    shared: dict[str, bytes] = {}
    own: dict[str, bytes] = {}
    headers = 0
    while (header := _header(stream)) is not None:
        headers += 1
        # Empty metadata entries count as well.
        if headers > 4 * bounds.entries:
            raise ArchiveDamaged(f"more than {4 * bounds.entries} headers")
        size, flag = _number(header[124:136]), header[156:157]
        if flag in _META:
            found = _metadata(stream, flag, size, bounds)
            (shared if flag == _PAX_GLOBAL else own).update(found)
            continue
        stated = {**shared, **own}
        own = {}
        yield from _entry(stream, header, stated, size)


def _header(stream: ForwardStream) -> bytes | None:
    header = stream.read(BLOCK)
    if header == _EMPTY:
        return None
    if len(header) < BLOCK:
        raise ArchiveDamaged("it has lost its end")
    signed = 8 * 0x20 + sum(header[:148]) + sum(header[156:])
    if _number(header[148:156]) != signed:
        raise ArchiveDamaged("a header with a wrong checksum")
    return header


def _number(field: bytes) -> int:
    """A size: octal digits, or base 256 when the first bit is set (GNU)."""
    if field[0] == _NEGATIVE:
        raise ArchiveDamaged("a negative size")
    if field[0] & _BINARY:
        return int.from_bytes(bytes([field[0] & ~_BINARY]) + field[1:], "big")
    digits = field.rstrip(b"\0 ").lstrip(b" ")
    try:
        return int(digits, 8) if digits else 0
    except ValueError as error:
        raise ArchiveDamaged("a size that is not a number") from error


def _metadata(stream: ForwardStream, flag: bytes, size: int, bounds: Bounds) -> dict[str, bytes]:
    if size > bounds.metadata:
        raise ArchiveDamaged(f"more than {bounds.metadata} bytes of metadata for an entry")
    data = stream.read(size)
    if len(data) < size:
        raise ArchiveDamaged("it ends inside a header")
    stream.skip(-size % BLOCK)
    if flag == _GNU_NAME:
        return {"path": data.rstrip(b"\0")}
    return {} if flag == _GNU_LINK else _pax(data)


def _pax(data: bytes) -> dict[str, bytes]:
    r"""Records `LENGTH KEY=VALUE\n` of an extended header."""
    found: dict[str, bytes] = {}
    at = 0
    while at < len(data) and data[at]:
        digits, space, _ = data[at : at + 12].partition(b" ")
        length = int(digits) if digits.isdigit() else 0
        record = data[at : at + length]
        if not space or len(record) < len(digits) + 3 or len(record) < length or not record.endswith(b"\n"):
            raise ArchiveDamaged("an extended header that cannot be read")
        key, _, value = record[len(digits) + 1 : -1].partition(b"=")
        found[decode_entry_name(key)] = value
        at += length
    return found


def _entry(stream: ForwardStream, header: bytes, stated: dict[str, bytes], size: int) -> Iterator[Entry]:
    size = _stated_size(stated, size)
    kind = _KINDS.get(header[156:157], EntryKind.SPECIAL)
    name = _name(header, stated)
    if kind is EntryKind.FILE and name.endswith("/"):
        kind = EntryKind.FOLDER
    # Links, folders and devices have no content, whatever their size field states; other unknown types have (POSIX).
    content_size = 0 if kind in {EntryKind.LINK, EntryKind.FOLDER} or header[156:157] in {b"3", b"4", b"6"} else size
    refused = "a sparse file" if any(key.startswith("GNU.sparse") for key in stated) else ""
    rest = [content_size]

    def read() -> bytes:
        if not rest[0]:
            return b""
        data = stream.read(rest[0])
        if len(data) < rest[0]:
            raise ArchiveDamaged("it ends inside an entry")
        rest[0] = 0
        return data

    yield Entry(name, kind, content_size, read, refused)
    stream.skip(rest[0])
    stream.skip(-content_size % BLOCK)


def _stated_size(stated: dict[str, bytes], size: int) -> int:
    text = stated.get("size")
    if text is None:
        return size
    if not text.isdigit() or len(text) > 20:
        raise ArchiveDamaged("a size that is not a number")
    return int(text)


def _name(header: bytes, stated: dict[str, bytes]) -> str:
    if "path" in stated:
        return decode_entry_name(stated["path"])
    name = header[:100].split(b"\0", 1)[0]
    # GNU's own format keeps times where ustar has the first part of a long name.
    is_ustar = header[257:263] == MAGIC + b"\0"
    prefix = header[345:500].split(b"\0", 1)[0] if is_ustar else b""
    return decode_entry_name(prefix + b"/" + name if prefix else name)
