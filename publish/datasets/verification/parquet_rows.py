"""Reads untrusted Parquet files. The sizes in their metadata are not trusted.

A few bytes of such a file can encode any number of rows of any size, in more ways than could be
checked in advance: dictionaries, runs, page headers, nested lists. So a confined process first reads each file
to its end, in the same steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from publish.datasets.format.table_files import GROUP_ROWS
from publish.datasets.format.tables import PARQUET, TABLES_BY_NAME, Table, table_file_name
from publish.datasets.snapshot.reader import UnreadableFile, open_plain_file
from publish.datasets.verification import confined_processes

BATCH_LIMIT: Final = 32 * 2**20
BULKY_LIMIT: Final = 256 * 2**20
"""Maximum bytes of rows that are read at a time, and for a bulky table."""

_ROWS: Final = 500
_THRIFT: Final = 64 * 2**20
_FAILURES: Final = (pa.ArrowException, OSError, ValueError, MemoryError)


class ParquetRows:
    """The rows of a table's Parquet file in batches; raise UnreadableFile or FileNotFoundError."""

    def __init__(self, folder: Path, table: Table, *, comparable: bool) -> None:
        self.name = table_file_name(table, PARQUET)
        self.schema = table.arrow(comparable=comparable)
        self.limit = BULKY_LIMIT if table.bulky else BATCH_LIMIT
        self._stream = open_plain_file(folder, self.name)
        try:
            self._file = pq.ParquetFile(
                self._stream, thrift_string_size_limit=_THRIFT, thrift_container_size_limit=1_000_000
            )
            self.is_of_table = bool(self._file.schema_arrow.equals(self.schema))
            if any(self._rows_of(group) > 2 * GROUP_ROWS for group in self._groups):
                raise UnreadableFile(self.name, f"row groups of at most {2 * GROUP_ROWS} rows expected")
        except _FAILURES as error:
            self._stream.close()
            raise _unreadable_file(self.name, error) from error

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Its rows; none if its columns are not those of the table."""
        if not self.is_of_table:
            return
        try:
            for group in self._groups:
                for batch in self._file.iter_batches(batch_size=_ROWS, row_groups=[group], use_threads=False):
                    if batch.nbytes > self.limit:
                        raise UnreadableFile(self.name, f"at most {self.limit} bytes in {_ROWS} rows expected")
                    yield batch
        except _FAILURES as error:
            raise _unreadable_file(self.name, error) from error

    def close(self) -> None:
        self._stream.close()

    @property
    def _groups(self) -> range:
        return range(self._file.metadata.num_row_groups)

    def _rows_of(self, group: int) -> int:
        return int(self._file.metadata.row_group(group).num_rows)


def find_unreadable_tables(folder: Path, tables: Sequence[Table], *, comparable: bool) -> dict[str, str]:
    """The tables whose Parquet file a confined process could not read to its end, with the reason."""
    found = {}
    left = [table.name for table in tables]
    while left:
        with confined_processes.start_confined_workers(1) as alone:
            for name in tuple(left):
                left.remove(name)
                error = alone.submit(read_to_end, folder, name, comparable=comparable).exception()
                if error is None:
                    continue
                found[name] = _why(error)
                if isinstance(error, BrokenProcessPool):
                    break
    return found


def read_to_end(folder: Path, name: str, *, comparable: bool) -> None:
    """Read the Parquet file of a table and discard it; raise UnreadableFile."""
    try:
        rows = ParquetRows(folder, TABLES_BY_NAME[name], comparable=comparable)
    except FileNotFoundError:
        return  # named with the files
    for _ in rows:
        pass
    rows.close()


def _why(error: BaseException) -> str:
    match error:
        case UnreadableFile():
            return error.why
        case BrokenProcessPool():
            return "reading it ended the process that did"
        case _:
            raise error


def _unreadable_file(name: str, error: Exception) -> UnreadableFile:
    match error:
        case UnreadableFile():
            return error
        case MemoryError():
            return UnreadableFile(name, "reading it takes more memory than it may have")
        case _:
            return UnreadableFile(name, str(error))
