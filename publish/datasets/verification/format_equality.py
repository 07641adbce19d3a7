"""Checks that a table's Parquet and CSV files equal its JSON Lines, from which scores are recomputed."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from types import TracebackType
from typing import Self

import pyarrow as pa

from publish.datasets.format.table_files import EncodedBlock, encode_csv_head
from publish.datasets.format.tables import CSV, PARQUET, TABLES, TABLES_BY_NAME, Table, table_file_name
from publish.datasets.snapshot.reader import OpenedSnapshot, UnreadableFile, unpack_file
from publish.datasets.verification.parquet_rows import ParquetRows
from publish.datasets.verification.problems import Problem, ProblemKind, show_value


class FormatFiles:
    """Files of a snapshot in one format, read in step with the rows of its JSON Lines.

    A file is not read further after its first difference or error.
    """

    def __init__(self, readers: Mapping[str, _Parquet | _Csv], unreadable: Sequence[Problem] = ()) -> None:
        self._readers = dict(readers)
        self._unreadable = unreadable

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for reader in self._readers.values():
            reader.close()

    def compare(self, table: Table, block: EncodedBlock) -> Iterator[Problem]:
        """Differences between some rows and the file of their table."""
        reader = self._readers.get(table.name)
        if reader is not None and (wrong := reader.differs(block)) is not None:
            yield wrong
            self._readers.pop(table.name).close()

    def rest(self) -> Iterator[Problem]:
        """Files that cannot be read, and rows beyond the last one."""
        yield from self._unreadable
        for reader in self._readers.values():
            if (wrong := reader.more()) is not None:
                yield wrong


def open_csv_files(opened: OpenedSnapshot) -> FormatFiles:
    """The CSV files of a snapshot."""
    return FormatFiles({table.name: _Csv(table, opened) for table in TABLES if CSV in table.formats})


def open_parquet_files(opened: OpenedSnapshot, tables: Sequence[Table], unproven: Mapping[str, str]) -> FormatFiles:
    """The Parquet files of these tables. `unproven` has those that must not be read at all, with the reason."""
    readers: dict[str, _Parquet] = {}
    unreadable = [_unreadable(table_file_name(TABLES_BY_NAME[name], PARQUET), why) for name, why in unproven.items()]
    for table in tables:
        if table.name in unproven:
            continue
        try:
            readers[table.name] = _Parquet(ParquetRows(opened.folder, table, comparable=opened.manifest.comparable))
        except FileNotFoundError:
            pass  # named with the files
        except UnreadableFile as error:
            unreadable.append(_unreadable(error.name, error.why))
    return FormatFiles(readers, unreadable)


class _Parquet:
    def __init__(self, rows: ParquetRows) -> None:
        self.name = rows.name
        self._source = rows
        self._batches = iter(rows)
        self._held: list[pa.RecordBatch] = []
        self._rows = self._done = 0

    def differs(self, block: EncodedBlock) -> Problem | None:
        if not self._source.is_of_table:
            return _problem(ProblemKind.FORMS, self.name, "the columns of its table", "others")
        try:
            found = self._take(block.rows, 2 * block.batch.nbytes + self._source.limit)
        except UnreadableFile as error:
            return _unreadable(self.name, error.why)
        expected = pa.Table.from_batches([block.batch])
        if found.num_rows == block.rows and found.equals(expected):
            self._done += block.rows
            return None
        return self._first_difference(expected, found)

    def _first_difference(self, expected: pa.Table, found: pa.Table) -> Problem:
        for at, (one, other) in enumerate(zip(expected.to_pylist(), found.to_pylist(), strict=False)):
            for name, value in one.items():
                if other[name] != value:
                    where = f"row {self._done + at + 1} {name}"
                    return _problem(ProblemKind.FORMS, self.name, str(value), other[name], at=where)
        rows = (f"{self._done + one.num_rows} rows" for one in (expected, found))
        return _problem(ProblemKind.FORMS, self.name, next(rows), next(rows))

    def more(self) -> Problem | None:
        try:
            more = self._take(1, self._source.limit).num_rows
        except UnreadableFile as error:
            return _unreadable(self.name, error.why)
        return _problem(ProblemKind.FORMS, self.name, f"{self._done} rows", "more") if more else None

    def close(self) -> None:
        self._source.close()

    def _take(self, count: int, most: int) -> pa.Table:
        """The next `count` rows; fewer at the end of the file, or if they have more than `most` bytes."""
        size = 0
        while self._rows < count and size <= most and (batch := next(self._batches, None)) is not None:
            self._held.append(batch)
            self._rows += batch.num_rows
            size += batch.nbytes
        held = pa.Table.from_batches(self._held, self._source.schema)
        rest = held.slice(count)
        self._held, self._rows = rest.to_batches(), rest.num_rows
        return held.slice(0, count)


class _Csv:
    def __init__(self, table: Table, opened: OpenedSnapshot) -> None:
        self.name = table_file_name(table, CSV)
        self._pieces = unpack_file(opened.folder, self.name)
        self._held = b""
        self._done = 0
        self._head = encode_csv_head(table, comparable=opened.manifest.comparable)

    def differs(self, block: EncodedBlock) -> Problem | None:
        try:
            head, self._head = self._head, b""
            expected = head + block.csv
            same = self._skip(expected)
            found = expected if same == len(expected) else expected[:same] + self._take(len(expected) - same)
        except UnreadableFile as error:
            return _unreadable(self.name, error.why)
        if found == expected:
            self._done += block.rows
            return None
        lines = zip_longest(io.BytesIO(expected), io.BytesIO(found), fillvalue=b"")
        number, (one, other) = next((at, pair) for at, pair in enumerate(lines) if pair[0] != pair[1])
        at = f"line {number + self._done + (not head) + 1}"
        return _problem(
            ProblemKind.FORMS, self.name, one.decode("utf-8", "replace"), other.decode("utf-8", "replace"), at=at
        )

    def more(self) -> Problem | None:
        try:
            more = self._take(len(self._head) + 1)[len(self._head) :]
        except UnreadableFile as error:
            return _unreadable(self.name, error.why)
        return _problem(ProblemKind.FORMS, self.name, f"{self._done} rows", "more") if more else None

    def close(self) -> None:
        pass  # its pieces close the file

    def _skip(self, expected: bytes) -> int:
        """Read what is expected, piece by piece and without a copy of the whole; return how much of it was found."""
        same = 0
        while same < len(expected) and (piece := self._held or next(self._pieces, b"")):
            common = min(len(piece), len(expected) - same)
            if not expected.startswith(piece[:common], same):  # comparing memory views takes 50 times as long
                self._held = piece
                break
            self._held = piece[common:]
            same += common
        return same

    def _take(self, count: int) -> bytes:
        parts, size = [self._held], len(self._held)
        while size < count and (piece := next(self._pieces, b"")):
            parts.append(piece)
            size += len(piece)
        whole = b"".join(parts)
        self._held = whole[count:]
        return whole[:count]


def _problem(fault: ProblemKind, name: str, expected: str, found: object, *, at: str = "") -> Problem:
    return Problem(fault=fault, file=name, at=at, expected=show_value(expected), found=show_value(found))


def _unreadable(name: str, why: str) -> Problem:
    return _problem(ProblemKind.UNREADABLE, name, "rows that can be read", why)
