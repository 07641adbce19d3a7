"""Content-addressed bodies: hashed, compressed, stored once, and verified at every read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import IntEnum
from typing import Final

from sqlalchemy import Connection, Row, select

from evidence.model import Observed
from evidence.store.errors import CorruptBlob, StoreError
from evidence.store.sql.bulk_insert import insert_rows, split_batches
from evidence.store.sql.key_sets import KEYS, matches_any
from evidence.store.tables.evidence import BLOB
from evidence.zstd import CompressionParameter, ZstdCompressor, ZstdDecompressor, ZstdDict, ZstdError, get_frame_info

# Far above every collector's limit; bounds the memory that a corrupt size column can make us allocate.
MAX_BODY_BYTES: Final = 64 * 1024 * 1024

# On listings level 1 keeps 94 to 100 % of level 3's ratio at four fifths of its time.
_LEVEL: Final = 1

_COLUMNS: Final = ("digest", "canonical", "codec", "size", "body")

_BY_KEY: Final = select(BLOB).where(matches_any(BLOB.c.key))
_DIGESTS: Final = select(BLOB.c.key, BLOB.c.digest).where(matches_any(BLOB.c.key))


class Codec(IntEnum):
    """How stored bytes are packed. GONE: only the digest is left (see retention/garbage_collection.py)."""

    RAW = 0
    ZSTD = 1
    GONE = 2


def put_blobs(connection: Connection, contents: Iterable[Observed]) -> dict[str, int]:
    """Store the bodies that are new or gone; return the key of every digest. Only these bodies are compressed."""
    wanted = {content.digest: content for content in contents}
    keys = find_blobs(connection, list(wanted))
    missing = [content for digest, content in wanted.items() if digest not in keys]
    if missing:
        compressor = new_compressor()
        rows = [_row(content, compressor) for content in missing]
        insert_rows(connection, BLOB, _COLUMNS, rows, unique=["digest"], update=["codec", "body"])
        keys |= find_blobs(connection, [content.digest for content in missing])
    return keys


def find_blobs(connection: Connection, digests: Sequence[str]) -> dict[str, int]:
    """Keys of the digests whose bodies are stored."""
    keys: dict[str, int] = {}
    for batch in split_batches(digests):
        wanted = BLOB.c.digest.in_([bytes.fromhex(digest) for digest in batch])
        query = select(BLOB.c.digest, BLOB.c.key).where(wanted, BLOB.c.codec != Codec.GONE)
        keys |= {digest.hex(): key for digest, key in connection.execute(query)}
    return keys


def find_discarded(connection: Connection, keys: Iterable[int]) -> set[int]:
    """The keys of the blobs whose body is gone."""
    found: set[int] = set()
    for batch in split_batches(sorted(set(keys))):
        found.update(connection.scalars(select(BLOB.c.key).where(BLOB.c.key.in_(batch), BLOB.c.codec == Codec.GONE)))
    return found


def find_digests(connection: Connection, keys: Iterable[int]) -> dict[int, str]:
    """The digests of stored blobs by key; no body is read."""
    found: dict[int, str] = {}
    for batch in split_batches(sorted(set(keys))):
        found |= {key: digest.hex() for key, digest in connection.execute(_DIGESTS, {KEYS: batch})}
    return found


def read_blobs(connection: Connection, keys: Iterable[int]) -> dict[int, Observed]:
    """Bodies by key; raise CorruptBlob when one does not match its digest."""
    found: dict[int, Observed] = {}
    for batch in split_batches(sorted(set(keys))):
        for row in connection.execute(_BY_KEY, {KEYS: batch}):
            found[row.key] = open_blob(row)
    return found


def open_blob(row: Row[tuple[object, ...]]) -> Observed:
    """The body of one row of `evidence_blob`, checked against its digest."""
    digest = row.digest.hex()
    if row.codec == Codec.GONE:
        raise CorruptBlob(f"the body of blob {digest} was dropped because no record was known to need it")
    body = decompress_body(row.codec, row.size, row.body, name=digest)
    content = Observed(body)
    if content.digest != digest:
        raise CorruptBlob(f"blob {digest} holds bytes with digest {content.digest}")
    # Stored with the digest; computing it again costs more than the whole read.
    vars(content)["canonical"] = None if row.canonical is None else row.canonical.hex()
    return content


def new_compressor(dictionary: ZstdDict | None = None, *, level: int = _LEVEL) -> ZstdCompressor:
    """A compressor for one batch; it costs as much as a small body and is not safe to share between threads.

    The size is stored in its own column and not in the frame.
    """
    options: dict[int, int] = {
        CompressionParameter.compression_level: level,
        CompressionParameter.content_size_flag: 0,
    }
    return ZstdCompressor(options=options, zstd_dict=dictionary)


def compress_body(body: bytes, compressor: ZstdCompressor) -> tuple[int, int, bytes]:
    """Codec, size and stored bytes of a body."""
    if len(body) > MAX_BODY_BYTES:
        raise StoreError(f"a body of {len(body)} bytes, at most {MAX_BODY_BYTES} expected")
    packed = compressor.compress(body, ZstdCompressor.FLUSH_FRAME)
    return (Codec.ZSTD, len(body), packed) if len(packed) < len(body) else (Codec.RAW, len(body), body)


def decompress_body(codec: int, size: int, packed: bytes, *, name: str, dictionary: ZstdDict | None = None) -> bytes:
    """The body of stored bytes, never allocating more than the stored size; raise CorruptBlob with `name`."""
    if codec == Codec.RAW:
        return packed
    if codec != Codec.ZSTD or not 0 < size <= MAX_BODY_BYTES:
        raise CorruptBlob(f"blob {name} has codec {codec} and size {size}")
    try:
        if get_frame_info(packed).decompressed_size not in {None, size}:
            raise CorruptBlob(f"blob {name} does not state its size of {size}")
        return decompress_frame(packed, size, dictionary)
    except ZstdError as error:
        raise CorruptBlob(f"blob {name} cannot be decompressed: {error}") from error


def decompress_frame(packed: bytes, size: int, dictionary: ZstdDict | None = None) -> bytes:
    """The content of one frame; raise ZstdError unless it has exactly `size` bytes."""
    decompressor = ZstdDecompressor(zstd_dict=dictionary)
    body = decompressor.decompress(packed, max_length=size + 1)
    if len(body) != size or not decompressor.eof:
        raise ZstdError(f"expected a frame of {size} bytes")
    return body


def _row(content: Observed, compressor: ZstdCompressor) -> tuple[object, ...]:
    canonical = None if content.canonical is None else bytes.fromhex(content.canonical)
    return bytes.fromhex(content.digest), canonical, *compress_body(content.body, compressor)
