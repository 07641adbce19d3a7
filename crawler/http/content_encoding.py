"""Content encodings: identity, and gzip with a size limit; all others are refused before the body is read."""

from __future__ import annotations

import zlib
from typing import Final

from crawler.http.failures import Malformed, TooLarge, UnsupportedEncoding

ACCEPTED_ENCODINGS: Final = "gzip, identity"
_GZIP: Final = 16 + zlib.MAX_WBITS
_MAGIC: Final = b"\x1f\x8b"
_MEMBERS: Final = 16  # each empty member costs a copy of the remaining data


class GzipDecoder:
    """Decompresses gzip members chunk by chunk, up to `limit` bytes of output."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._produced = 0
        self._members = 1
        self._member = zlib.decompressobj(_GZIP)

    def feed(self, data: bytes) -> bytes:
        """Decompress the next chunk; raise TooLarge beyond the limit and Malformed if it is not gzip."""
        plain: list[bytes] = []
        while data:
            if self._member.eof and not self._next_member(data):
                break
            piece = self._inflate(data)
            plain.append(piece)
            self._produced += len(piece)
            if self._produced > self._limit:
                raise TooLarge(f"inflates to more than {self._limit} bytes")
            data = self._member.unused_data or self._member.unconsumed_tail
        return b"".join(plain)

    def _next_member(self, data: bytes) -> bool:
        """Begin another member; False if the rest is padding, which clients ignore."""
        if not data.startswith(_MAGIC):
            return False
        self._members += 1
        if self._members > _MEMBERS:
            raise TooLarge(f"more than {_MEMBERS} gzip members")
        self._member = zlib.decompressobj(_GZIP)
        return True

    def _inflate(self, data: bytes) -> bytes:
        try:
            return self._member.decompress(data, self._limit - self._produced + 1)
        except zlib.error as error:
            raise Malformed("the body is not the gzip that its header promises") from error


class IdentityDecoder:
    """Returns bytes unchanged."""

    def feed(self, data: bytes) -> bytes:
        return data


def choose_decoder(encoding: str, limit: int) -> GzipDecoder | IdentityDecoder:
    """The decoder for a Content-Encoding header; raise UnsupportedEncoding for one that was not offered."""
    match encoding.strip().lower():
        case "" | "identity":
            return IdentityDecoder()
        case "gzip" | "x-gzip":
            return GzipDecoder(limit)
        case other:
            name = other if other in {"br", "zstd", "deflate", "compress"} else "an unknown coding"
            raise UnsupportedEncoding(f"the body is encoded with {name}, which was not offered")
