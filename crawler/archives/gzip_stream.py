"""Reads a gzip file as a bounded stream: at most one chunk is in memory, and a bomb ends at the bound."""

from __future__ import annotations

import zlib
from typing import BinaryIO, Final

from crawler.archives.entries import ArchiveDamaged, Bounds

GZIP: Final = b"\x1f\x8b"

_CHUNK: Final = 64 * 1024
_GZIP_WINDOW: Final = 31
_PIECE: Final = 256 * 1024


class ForwardStream:
    """Bytes of a file that are read forward only. `total` counts the bytes returned."""

    def __init__(self, file: BinaryIO, bounds: Bounds) -> None:
        self._file = file
        self._bounds = bounds
        self.total = 0

    def read(self, size: int) -> bytes:
        """Exactly `size` bytes, fewer only at the end; raise ArchiveDamaged when the total bound is exceeded."""
        if self.total + size > self._bounds.unpacked:
            raise ArchiveDamaged(f"more than {self._bounds.unpacked} bytes unpacked")
        data = self._take(size)
        self.total += len(data)
        return data

    def skip(self, size: int) -> None:
        """Skip `size` bytes; raise ArchiveDamaged when there are fewer."""
        if self.total + size > self._bounds.unpacked:
            raise ArchiveDamaged(f"more than {self._bounds.unpacked} bytes unpacked")
        while size > 0:
            passed = len(self.read(min(size, _PIECE)))
            if not passed:
                raise ArchiveDamaged("it ends inside an entry")
            size -= passed

    def _take(self, size: int) -> bytes:
        return self._file.read(size)


class GzipStream(ForwardStream):
    """The content of a gzip file (RFC 1952) with one or more members."""

    def __init__(self, file: BinaryIO, bounds: Bounds) -> None:
        super().__init__(file, bounds)
        self._inflater = zlib.decompressobj(_GZIP_WINDOW)
        self._members = 1
        self._input = b""
        self._ready = bytearray()
        self._over = False

    def _take(self, size: int) -> bytes:
        while len(self._ready) < size and not self._over:
            self._ready += self._piece()
        data = bytes(self._ready[:size])
        del self._ready[:size]
        return data

    def _piece(self) -> bytes:
        """More content; empty when the input gave none or has ended."""
        if self._inflater.eof and not self._begin_member():
            return b""
        if not self._input:
            self._input = self._file.read(_CHUNK)
            if not self._input:
                raise ArchiveDamaged("it ends inside its compressed data")
        try:
            piece = self._inflater.decompress(self._input, _PIECE)
        except zlib.error as error:
            raise ArchiveDamaged("its compressed data is corrupt") from error
        self._input = self._inflater.unused_data if self._inflater.eof else self._inflater.unconsumed_tail
        return piece

    def _begin_member(self) -> bool:
        """Start the next member; other data end the stream, as in gzip itself."""
        if len(self._input) < len(GZIP):
            self._input += self._file.read(_CHUNK)
        if not self._input.startswith(GZIP):
            self._over = True
            return False
        self._members += 1
        if self._members > self._bounds.members:
            raise ArchiveDamaged(f"more than {self._bounds.members} compressed members")
        self._inflater = zlib.decompressobj(_GZIP_WINDOW)
        return True
