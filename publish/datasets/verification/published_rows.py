"""The published rows of one server, parsed only where they are not the bytes that this code writes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from publish.datasets.format.columns import Columns, Row, encode_lines, transpose_rows, zip_columns
from publish.datasets.format.tables import TABLES, TABLES_BY_NAME
from publish.datasets.snapshot.reader import Lines, RowParser


class RowParsers:
    """The parsers of all tables of a snapshot."""

    def __init__(self, *, comparable: bool) -> None:
        self._parsers = {table.name: RowParser(table, comparable=comparable) for table in TABLES}

    def parse(self, table: str, lines: Lines) -> list[Row]:
        """The rows in the lines of a table; raise UnreadableFile."""
        return self._parsers[table].parse_all(lines)


class PublishedRows(Mapping[str, Sequence[Row]]):
    """The rows of one server by table, given the lines of each, which are not empty. Reading may raise UnreadableFile.

    A table whose lines are the bytes that this code writes for its own columns has these columns: parsing such lines
    gives nothing else, so it is left out.
    """

    def __init__(self, lines: Mapping[str, bytes], parsers: RowParsers) -> None:
        self._lines = lines
        self._parsers = parsers
        self._own: dict[str, Columns] = {}
        self._rows: dict[str, Sequence[Row]] = {}

    def match(self, mine: Mapping[str, Columns]) -> frozenset[str]:
        """Compare tables with what this code computes for them; the names of those that are equal."""
        equal = [name for name, columns in mine.items() if encode_lines(columns) == self._lines.get(name, b"")]
        self._own.update({name: mine[name] for name in equal})
        return frozenset(equal)

    def columns(self, table: str) -> Mapping[str, Sequence[Any]]:
        """The columns of a table; empty without rows."""
        return self._own[table] if table in self._own else transpose_rows(self.get(table, ()))

    def _parse(self, table: str) -> list[Row]:
        return self._parsers.parse(table, self._lines[table].removesuffix(b"\n").split(b"\n"))

    def __getitem__(self, table: str) -> Sequence[Row]:
        if table not in self._rows:
            own = self._own.get(table)
            self._rows[table] = self._parse(table) if own is None else zip_columns(own)
        return self._rows[table]

    def __iter__(self) -> Iterator[str]:
        return (name for name in TABLES_BY_NAME if name in self._lines)

    def __len__(self) -> int:
        return len(self._lines)
