"""The files of a table: Parquet with zstd, CSV and JSON Lines with gzip, the same bytes every time."""

from __future__ import annotations

import hashlib
import io
import os
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, Self

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from msgspec import Struct

from publish.datasets.format.columns import Column, Columns, Type, encode_lines
from publish.datasets.format.tables import CSV, JSONL, PARQUET, Table, table_file_name

GROUP_ROWS: Final = 50_000
GROUP_BYTES: Final = 32 * 2**20
"""Maximum rows and bytes of a row group of a Parquet file, which is buffered in memory."""

_LEVEL: Final = 3
_GZIP: Final = zlib.MAX_WBITS + 16
_ZSTD: Final = 3
_CELL: Final = pa.large_string()
"""The type of cells: together those of a block may be larger than an array of `string`."""
_QUOTED: Final = re.compile(r'[",\r\n]')


class FileDigest(Struct, frozen=True):
    """Digest and size of a file. `rows` is None for a file that is no table."""

    sha256: str
    bytes: int
    rows: int | None = None


class EncodedBlock(Struct, frozen=True):
    """Some rows of one table, encoded for each of its files."""

    rows: int
    jsonl: bytes
    csv: bytes
    batch: pa.RecordBatch


class PackedBlock(Struct, frozen=True):
    """Some rows of one table as they are written: JSON Lines and CSV are gzip members, empty without rows."""

    rows: int
    jsonl: bytes
    csv: bytes
    batch: pa.RecordBatch


def pack_block(block: EncodedBlock) -> PackedBlock:
    """Compress the lines of a block, so that its files are only joined."""
    return PackedBlock(block.rows, _zip(block.jsonl), _zip(block.csv), block.batch)


def encode_columns(table: Table, values: Columns, *, comparable: bool, lines: bool = True) -> EncodedBlock:
    """Encode the columns of rows for the files of their table; without `lines`, the JSON Lines are left empty.

    Raise pa.ArrowInvalid for a value that does not fit its column.
    """
    columns = table.shown(comparable=comparable)
    shown = {column.name: values[column.name] for column in columns} if values else {}
    encoded = [_encode_column(column, shown.get(column.name, ()), table) for column in columns]
    batch = pa.RecordBatch.from_arrays([array for array, _ in encoded], schema=table.arrow(comparable=comparable))
    return EncodedBlock(
        rows=batch.num_rows,
        jsonl=encode_lines(shown) if lines else b"",
        csv=b"" if table.bulky else _encode_csv([cells for _, cells in encoded]),
        batch=batch,
    )


def _encode_column(column: Column, values: Sequence[Any], table: Table) -> tuple[pa.Array, pa.Array | None]:
    """A column in Parquet, and its cells in CSV. Most values are repeated, so each is converted once."""
    cell, kind = column.cell, column.arrow.type
    if column.type is Type.TEXTS:
        return pa.array(values, kind), pa.array([_quote(cell(value)) for value in values], _CELL)
    plain = pa.array(values, pa.string() if column.type in {Type.DECIMAL, Type.TIME} else kind)
    if table.bulky:
        return plain.cast(kind), None
    coded = plain.dictionary_encode(null_encoding="encode")
    texts = [cell(value) for value in coded.dictionary.to_pylist()]
    cells = pa.array(map(_quote, texts), _CELL).take(coded.indices)
    if column.type is Type.DECIMAL:
        return pa.array([text or None for text in texts], pa.string()).cast(kind).take(coded.indices), cells
    return plain if plain.type == kind else coded.dictionary.cast(kind).take(coded.indices), cells


def _encode_csv(cells: Sequence[pa.Array]) -> bytes:
    """Columns of cells as CSV without a header line."""
    lines = pc.binary_join_element_wise(*cells, pa.scalar(",", _CELL))
    whole = pc.binary_join_element_wise(lines, pa.scalar("", _CELL), pa.scalar("\n", _CELL))
    size = pc.sum(pc.binary_length(whole)).as_py() or 0
    return bytes(memoryview(whole.buffers()[2])[:size]) if size else b""


def _quote(cell: str) -> str:
    """A cell as RFC 4180 wants it."""
    return '"' + cell.replace('"', '""') + '"' if _QUOTED.search(cell) else cell


def _zip(data: bytes, *, whole: bool = False) -> bytes:
    """A gzip member without time and file name in its header; nothing for no data, unless it is a `whole` file."""
    if not data and not whole:
        return b""
    packer = zlib.compressobj(_LEVEL, wbits=_GZIP)
    return packer.compress(data) + packer.flush()


class DigestWriter(io.RawIOBase):
    """A file writer that computes digest and size."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._file = path.open("wb")
        self._sha256 = hashlib.sha256()
        self._size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        self._sha256.update(data)
        self._size += memoryview(data).nbytes
        return self._file.write(data)

    def tell(self) -> int:
        return self._size

    def close(self) -> None:
        if not self._file.closed:
            self._file.close()
        super().close()

    def written(self, rows: int | None = None) -> FileDigest:
        return FileDigest(self._sha256.hexdigest(), self._size, rows)


class ParquetDigest:
    """The digest of a table's Parquet file, which is not kept."""

    def __init__(self, table: Table, *, comparable: bool) -> None:
        self._sink = DigestWriter(Path(os.devnull))
        self._writer = _Parquet(self._sink, table.arrow(comparable=comparable))

    def write(self, batch: pa.RecordBatch) -> None:
        self._writer.write(batch)

    def finish(self) -> FileDigest:
        """Complete the file; return its digest."""
        self._writer.finish()
        self._sink.close()
        return self._sink.written()


class TableFiles:
    """The files of one table, written block by block in bounded memory."""

    def __init__(self, table: Table, folder: Path, *, comparable: bool) -> None:
        self._stack = ExitStack()
        self._table = table
        self._rows = 0
        self._digests = {form: DigestWriter(folder / table_file_name(table, form)) for form in table.formats}
        for digest in self._digests.values():
            self._stack.callback(digest.close)
        self._parquet = _Parquet(self._digests[PARQUET], table.arrow(comparable=comparable))
        self._zipped = [_Zipped(self._digests[JSONL], b"", lambda block: block.jsonl)]
        if CSV in self._digests:
            head = encode_csv_head(table, comparable=comparable)
            self._zipped.append(_Zipped(self._digests[CSV], head, lambda block: block.csv))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._stack:  # also after a failure the writer ends before its file does
            self._parquet.finish()

    def write(self, block: PackedBlock) -> None:
        self._rows += block.rows
        self._parquet.write(block.batch)
        for file in self._zipped:
            file.write(block)

    def finish(self) -> dict[str, FileDigest]:
        """Complete the files; return the digest of each, by name."""
        self._parquet.finish()
        for file in self._zipped:
            file.finish()
        self._stack.close()
        return {
            table_file_name(self._table, form): digest.written(self._rows) for form, digest in self._digests.items()
        }


def encode_csv_head(table: Table, *, comparable: bool) -> bytes:
    """The header line of a CSV file."""
    return ",".join(column.name for column in table.shown(comparable=comparable)).encode() + b"\n"


class _Zipped:
    """A gzip file of the members that blocks have, and of `head`; it has at least one."""

    def __init__(self, sink: DigestWriter, head: bytes, member: Callable[[PackedBlock], bytes]) -> None:
        self._sink = sink
        self._member = member
        self._sink.write(_zip(head))

    def write(self, block: PackedBlock) -> None:
        self._sink.write(self._member(block))

    def finish(self) -> None:
        if not self._sink.tell():
            self._sink.write(_zip(b"", whole=True))


class _Parquet:
    """A Parquet file. Row groups end by their content, so equal rows give equal bytes."""

    def __init__(self, sink: DigestWriter, schema: pa.Schema) -> None:
        self._schema = schema
        self._writer = pq.ParquetWriter(sink, schema, compression="zstd", compression_level=_ZSTD, version="2.6")
        self._held: list[pa.RecordBatch] = []
        self._rows = self._bytes = 0

    def write(self, batch: pa.RecordBatch) -> None:
        rest = batch
        while rest.num_rows:
            count = min(GROUP_ROWS - self._rows, rest.num_rows)
            size = _measure(rest)
            if self._bytes + size >= GROUP_BYTES:
                ends = pc.add(pc.cumulative_sum(_measure_rows(rest)), self._bytes)
                count = min(count, pc.sum(pc.less(ends, GROUP_BYTES)).as_py() + 1)
                size = ends[count - 1].as_py() - self._bytes
            self._held.append(rest.slice(0, count))
            self._rows += count
            self._bytes += size
            if self._rows >= GROUP_ROWS or self._bytes >= GROUP_BYTES:
                self._flush()
            rest = rest.slice(count)

    def finish(self) -> None:
        if self._writer.is_open:
            self._flush()
            self._writer.close()

    def _flush(self) -> None:
        if self._rows:
            table = pa.Table.from_batches(self._held, self._schema).combine_chunks()
            self._writer.write_table(table, row_group_size=max(self._rows, 1))
        self._held, self._rows, self._bytes = [], 0, 0


def _measure(batch: pa.RecordBatch) -> int:
    """The sum of `_measure_rows`, without an array of the rows."""
    values: int = batch.num_columns * batch.num_rows
    return 8 * values + sum(pc.sum(lengths).as_py() or 0 for lengths in _list_lengths(batch))


def _measure_rows(batch: pa.RecordBatch) -> pa.Array:
    """The bytes of each row, eight for each value and those of texts."""
    sizes = pa.array([8 * batch.num_columns] * batch.num_rows, pa.int64())
    for lengths in _list_lengths(batch):
        sizes = pc.add(sizes, pc.fill_null(lengths, 0))
    return sizes


def _list_lengths(batch: pa.RecordBatch) -> Iterator[pa.Array]:
    """The bytes of the texts of each column that has any."""
    for column in batch.columns:
        texts = pc.binary_join(column, " " * 8) if pa.types.is_list(column.type) else column
        if pa.types.is_string(texts.type):
            yield pc.binary_length(texts)
