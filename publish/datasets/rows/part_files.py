"""Encodes a part of a run's rows as one file, which another process joins with the other parts.

A part may come from a place that others can write to, so its form is data only.
"""

from __future__ import annotations

import struct
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import IO, Any, Final

import msgspec
import pyarrow as pa

from publish.datasets.format.tables import TABLES_BY_NAME
from publish.datasets.rows.export_workers import ExportedBatch

_HEAD: Final = struct.Struct(">QI")
"""Size and checksum of a batch."""

_OPTIONS: Final = pa.ipc.IpcWriteOptions(compression="zstd")


class DamagedPart(ValueError):
    """A file that is not as it was written, or is no part of an export."""


def write_part(batches: Iterable[ExportedBatch], out: IO[bytes]) -> None:
    """Write the batches of a part one after the other, each after its size and checksum."""
    for batch in batches:
        data = msgspec.msgpack.encode(batch, enc_hook=_encode_other)
        out.write(_HEAD.pack(len(data), zlib.crc32(data)))
        out.write(data)


def read_part(file: IO[bytes], batches: int) -> Iterator[ExportedBatch]:
    """The batches of a part, which has so many; raise DamagedPart."""
    for _ in range(batches):
        data = _read_batch(file)
        try:
            batch = _DECODER.decode(data)
        except (msgspec.DecodeError, pa.ArrowException, OSError, StopIteration) as error:
            raise DamagedPart(f"a batch of {len(data)} bytes expected: {type(error).__name__}: {error}") from error
        if set(batch.blocks) != set(TABLES_BY_NAME):
            raise DamagedPart(f"a batch of {len(data)} bytes has other tables than expected")
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


def _encode_other(value: object) -> bytes:
    """What msgspec has no form for: a batch of Arrow, as a stream."""
    if not isinstance(value, pa.RecordBatch):
        raise TypeError(f"a batch of Arrow expected, found {type(value).__name__}")
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, value.schema, options=_OPTIONS) as stream:
        stream.write_batch(value)
    return bytes(sink.getvalue())


def _decode_other(kind: type, data: Any) -> Any:
    if kind is pa.RecordBatch:
        with pa.ipc.open_stream(data) as stream:
            return stream.read_next_batch()
    return Counter(msgspec.convert(data, dict[str, int]))


_DECODER: Final = msgspec.msgpack.Decoder(ExportedBatch, dec_hook=_decode_other)
