"""Compact encodings of integers and short texts, for the rows that every run adds for every server."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

from evidence.store.errors import CorruptBlob, StoreError
from evidence.zstd import CompressionParameter, ZstdCompressor, ZstdDecompressor, ZstdDict, ZstdError

MAX_BYTES: Final = 64 * 1024 * 1024

_PLAIN: Final = 0
_NOTES_1: Final = 1
"""The first byte of a packed text: not compressed, or compressed with the dictionary of this number. A dictionary
never changes."""

_DICTIONARY: Final = Path(__file__).with_name("notes_1.zdict")
# Frames without dictionary number and size, which are stored elsewhere; the magic number is removed too.
_OPTIONS: Final[dict[int, int]] = {
    CompressionParameter.compression_level: 3,
    CompressionParameter.content_size_flag: 0,
    CompressionParameter.dict_id_flag: 0,
}
_MAGIC: Final = b"\x28\xb5\x2f\xfd"
_SEVEN: Final = 0x7F


def pack_numbers(numbers: Iterable[int]) -> bytes:
    """Numbers of at least 0 as LEB128: seven bits a byte, lowest first."""
    packed = bytearray()
    for number in numbers:
        rest = number
        while rest > _SEVEN:
            packed.append(rest & _SEVEN | 0x80)
            rest >>= 7
        packed.append(rest)
    return bytes(packed)


def unpack_numbers(packed: bytes) -> list[int]:
    """The packed numbers; raise CorruptBlob when the last one is incomplete."""
    numbers: list[int] = []
    number = shift = 0
    for byte in packed:
        number |= (byte & _SEVEN) << shift
        shift += 7
        if byte <= _SEVEN:
            numbers.append(number)
            number = shift = 0
    if shift:
        raise CorruptBlob(f"{packed[-10:].hex()} ends within a number")
    return numbers


def encode_zigzag(number: int) -> int:
    """Map a signed number to one of at least 0; small absolute values stay small."""
    return number * 2 if number >= 0 else -number * 2 - 1


def decode_zigzag(number: int) -> int:
    """The signed number that `encode_zigzag` encoded."""
    return number // 2 if number % 2 == 0 else -(number + 1) // 2


def pack_text(text: bytes) -> bytes:
    """A text after one byte that names its encoding."""
    if len(text) > MAX_BYTES:
        raise StoreError(f"a text of {len(text)} bytes, at most {MAX_BYTES} expected")
    compressor = ZstdCompressor(options=_OPTIONS, zstd_dict=_dictionary().as_digested_dict)
    packed = compressor.compress(text, ZstdCompressor.FLUSH_FRAME).removeprefix(_MAGIC)
    size = pack_numbers([len(text)])
    return bytes([_NOTES_1]) + size + packed if len(size) + len(packed) < len(text) else bytes([_PLAIN]) + text


def unpack_text(packed: bytes) -> bytes:
    """The packed text; raise CorruptBlob on bytes that `pack_text` does not write."""
    if packed[:1] == bytes([_PLAIN]):
        return packed[1:]
    end = next((place for place, byte in enumerate(packed[1:], 1) if byte <= _SEVEN), 0)
    if packed[:1] != bytes([_NOTES_1]) or not end:
        raise CorruptBlob(f"{packed[:10].hex()} begins no packed text")
    size = unpack_numbers(packed[1 : end + 1])[0]
    if not 0 < size <= MAX_BYTES:
        raise CorruptBlob(f"a packed text of {size} bytes, at most {MAX_BYTES} expected")
    decompressor = ZstdDecompressor(zstd_dict=_dictionary())
    try:
        text = decompressor.decompress(_MAGIC + packed[end + 1 :], max_length=size + 1)
    except ZstdError as error:
        raise CorruptBlob(f"a packed text cannot be decompressed: {error}") from error
    if len(text) != size or not decompressor.eof:
        raise CorruptBlob(f"a packed text has {len(text)} bytes, {size} expected")
    return text


def group_ranges(numbers: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Ascending numbers as ranges: the first number and the count."""
    first = count = 0
    for number in numbers:
        if count and number == first + count:
            count += 1
            continue
        if count:
            yield first, count
        first, count = number, 1
    if count:
        yield first, count


@cache
def _dictionary() -> ZstdDict:
    return ZstdDict(_DICTIONARY.read_bytes())
