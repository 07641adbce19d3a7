"""Encodes a part of a run's rows as one file, which another process joins with the other parts.

A part may come from a place that others can write to, so its form is data only.
"""

from __future__ import annotations

import struct
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

_SIZE: Final = struct.Struct(">Q")
_OPTIONS: Final = pa.ipc.IpcWriteOptions(compression="zstd")


class DamagedPart(ValueError):
    """A file that ends early or is no part of an export."""


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
    """Write the batches of a part one after the other, each after its size, and a size of 0 at the end."""
    for batch in batches:
        data = msgspec.msgpack.encode(_describe(batch))
        out.write(_SIZE.pack(len(data)))
        out.write(data)
    out.write(_SIZE.pack(0))


def read_part(file: IO[bytes]) -> Iterator[ExportedBatch]:
    """The batches of a part; raise DamagedPart."""
    while size := _read_size(file):
        data = file.read(size)
        try:
            yield _restore(_DECODER.decode(data))
        except (msgspec.DecodeError, pa.ArrowException, KeyError) as error:
            raise DamagedPart(f"a batch of {size} bytes expected: {type(error).__name__}: {error}") from error


def _read_size(file: IO[bytes]) -> int:
    head = file.read(_SIZE.size)
    if len(head) < _SIZE.size:
        raise DamagedPart("the file of a part ends early")
    return int(_SIZE.unpack(head)[0])


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
