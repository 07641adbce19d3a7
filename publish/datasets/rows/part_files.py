"""Encodes a part of a run's rows as one file, which another process joins with the other parts.

A part may come from a place that others can write to, so its form is data only.
"""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import IO, Final

import msgspec
import pyarrow as pa
from msgspec import Struct

from publish.datasets.format.table_files import PackedBlock
from publish.datasets.format.tables import TABLES_BY_NAME
from publish.datasets.rows.export_workers import ExportedBatch
from publish.datasets.snapshot.source_counts import KindCounts, SourceCounts

_HEAD: Final = struct.Struct(">QI")
"""Size and checksum of a batch."""

_OPTIONS: Final = pa.ipc.IpcWriteOptions(compression="zstd")


class DamagedPart(ValueError):
    """A file that is not as it was written, or is no part of an export."""


class _Block(Struct, frozen=True):
    """A PackedBlock; `batch` is a stream of Arrow."""

    rows: int
    jsonl: bytes
    csv: bytes
    batch: bytes


class _Batch(Struct, frozen=True):
    """An ExportedBatch."""

    blocks: dict[str, _Block]
    kinds: dict[str, KindCounts]
    registries: dict[str, int]


_DECODER: Final = msgspec.msgpack.Decoder(_Batch)


def write_part(batches: Iterable[ExportedBatch], out: IO[bytes]) -> None:
    """Write the batches of a part one after the other, each after its size and checksum."""
    for batch in batches:
        data = msgspec.msgpack.encode(_describe(batch))
        out.write(_HEAD.pack(len(data), zlib.crc32(data)))
        out.write(data)


def read_part(file: IO[bytes], batches: int) -> Iterator[ExportedBatch]:
    """The batches of a part, which has so many; raise DamagedPart."""
    for _ in range(batches):
        data = _read_batch(file)
        try:
            batch = _restore(_DECODER.decode(data))
        except (msgspec.DecodeError, pa.ArrowException, OSError, StopIteration, KeyError) as error:
            raise DamagedPart(f"a batch of {len(data)} bytes expected: {type(error).__name__}: {error}") from error
        yield batch


def _read_batch(file: IO[bytes]) -> bytes:
    try:
        size, checksum = _HEAD.unpack(file.read(_HEAD.size))
        data = file.read(size)
    except (struct.error, OverflowError, MemoryError) as error:
        raise DamagedPart(f"no batch begins here: {type(error).__name__}") from error
    if len(data) != size or zlib.crc32(data) != checksum:
        raise DamagedPart(f"a batch of {size} bytes is damaged")
    return data


def _describe(batch: ExportedBatch) -> _Batch:
    blocks = {
        name: _Block(block.rows, block.jsonl, block.csv, _encode_batch(block.batch))
        for name, block in batch.blocks.items()
    }
    return _Batch(blocks, batch.seen.kinds, batch.seen.registries)


def _restore(batch: _Batch) -> ExportedBatch:
    blocks = {
        name: PackedBlock(block.rows, block.jsonl, block.csv, _decode_batch(block.batch))
        for name, block in ((table, batch.blocks[table]) for table in TABLES_BY_NAME)
    }
    return ExportedBatch(blocks, SourceCounts(batch.kinds, Counter(batch.registries)))


def _encode_batch(batch: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema, options=_OPTIONS) as stream:
        stream.write_batch(batch)
    return bytes(sink.getvalue())


def _decode_batch(data: bytes) -> pa.RecordBatch:
    with pa.ipc.open_stream(data) as stream:
        return stream.read_next_batch()
