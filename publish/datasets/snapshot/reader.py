"""Reads an untrusted snapshot in bounded memory."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import re
import stat
import zlib
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from io import BufferedReader
from pathlib import Path
from typing import Any, Final, TypeAlias

import orjson
from msgspec import Struct

from publish.datasets.format.columns import Column, Row, Type, transpose_rows
from publish.datasets.format.tables import JSONL, Table, table_file_name
from publish.datasets.snapshot.manifest import FILE_NAME, MANIFEST, Manifest, NotASnapshot, decode_manifest

MANIFEST_LIMIT: Final = 4 * 2**20
DOCUMENT_LIMIT: Final = 8 * 2**20
LINE_LIMIT: Final = 16 * 2**20
BULKY_LINE_LIMIT: Final = 64 * 2**20
"""Maximum bytes of a row, and of a row of a bulky table: the largest body, escaped."""
SERVER_LIMIT: Final = 64 * 2**20
BULKY_SERVER_LIMIT: Final = 128 * 2**20
"""Maximum bytes of all rows of one server in one table, and in a bulky one."""
MAX_UNPACK_RATIO: Final = 600
"""Maximum ratio of unpacked to packed size. Hallmark's own files reach about 60."""
_ALWAYS: Final = 64 * 2**20
_CHUNK: Final = 2**20
_FEW_BYTES: Final = 2**20
"""Lines of so many bytes are written anew to compare them; at the limit of memory that would end the process."""
_HEAD: Final = b'{"server":"'

Lines: TypeAlias = Sequence[bytes]


class UnreadableFile(ValueError):
    """A file of a snapshot cannot be read; the message says what was expected and found."""

    def __init__(self, name: str, why: str) -> None:
        super().__init__(name, why)  # both, so that it travels between processes
        self.name = name
        self.why = why

    def __str__(self) -> str:
        return f"{self.name}: {self.why}"


class OpenedSnapshot(Struct, frozen=True):
    """A snapshot folder with its decoded manifest."""

    folder: Path
    manifest: Manifest

    def lines(self, table: Table) -> Iterator[tuple[str, bytes]]:
        """Each line of a table with its server id, sorted by server; raise UnreadableFile."""
        name = table_file_name(table, JSONL)
        before, same = "", _HEAD + b'"'
        longest = BULKY_LINE_LIMIT if table.bulky else LINE_LIMIT
        declared = self.manifest.by_name.get(name)
        most = declared.rows if declared and declared.rows is not None else 0
        for number, line in enumerate(unpack_lines(self.folder, name, longest), 1):
            if number > most:
                raise UnreadableFile(name, f"{most} rows expected, found more")
            if line.startswith(same):
                yield before, line
                continue
            server = _server_of(line)
            if server is None:
                raise UnreadableFile(name, f"a row that begins with its server expected in line {number}")
            if server < before:
                raise UnreadableFile(
                    name, f"rows sorted by server expected, found {server} after {before} in line {number}"
                )
            before, same = server, _HEAD + server.encode() + b'"'
            yield server, line

    def rows(self, table: Table) -> Iterator[Row]:
        """Each row of a table; raise UnreadableFile."""
        parser = RowParser(table, comparable=self.manifest.comparable)
        for _, line in self.lines(table):
            yield parser.parse(line)

    def servers(self, tables: Sequence[Table]) -> Iterator[tuple[str, Mapping[str, Lines]]]:
        """The lines of each server in these tables, sorted by server; raise UnreadableFile."""
        sources = {table.name: _grouped(table, self.lines(table)) for table in tables}
        heads = {name: next(source, None) for name, source in sources.items()}
        while waiting := [head[0] for head in heads.values() if head]:
            server = min(waiting)
            found: dict[str, Lines] = {}
            for name, head in heads.items():
                if head and head[0] == server:
                    found[name] = head[1]
                    heads[name] = next(sources[name], None)
            yield server, found

    def document(self, name: str) -> Any:
        """A JSON document of the snapshot; raise UnreadableFile."""
        data = read_small_file(self.folder, name, DOCUMENT_LIMIT)
        try:
            return orjson.loads(data)
        except orjson.JSONDecodeError as error:
            raise UnreadableFile(name, f"JSON expected: {error}") from error


def open_snapshot(folder: Path) -> OpenedSnapshot:
    """Open a snapshot folder; raise NotASnapshot for any other folder."""
    if not folder.is_dir():
        raise NotASnapshot(f"the folder or archive of a snapshot expected, found no folder at {folder}")
    try:
        data = read_small_file(folder, MANIFEST, MANIFEST_LIMIT)
    except (UnreadableFile, FileNotFoundError) as error:
        raise NotASnapshot(f"{MANIFEST} expected in {folder}: {error}") from error
    return OpenedSnapshot(folder, decode_manifest(data))


def open_plain_file(folder: Path, name: str) -> BufferedReader:
    """Open a regular file of a folder, never a link or a device; raise UnreadableFile or FileNotFoundError."""
    if not FILE_NAME.fullmatch(name):
        raise UnreadableFile(name[:100], "the plain name of a file expected")
    try:
        descriptor = os.open(folder / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UnreadableFile(name, f"a plain file expected: {error.strerror}") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise UnreadableFile(name, "a plain file expected, found a folder or a device")
    return os.fdopen(descriptor, "rb")


def read_small_file(folder: Path, name: str, limit: int) -> bytes:
    """Read a file of at most `limit` bytes; raise UnreadableFile or FileNotFoundError."""
    with open_plain_file(folder, name) as file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise UnreadableFile(name, f"at most {limit} bytes expected")
    return data


def unpack_file(folder: Path, name: str) -> Iterator[bytes]:
    """Unpack a gzip file piece by piece; raise UnreadableFile if it is damaged or unpacks to too much."""
    try:
        with open_plain_file(folder, name) as file:
            most = max(_ALWAYS, MAX_UNPACK_RATIO * os.fstat(file.fileno()).st_size)
            total = 0
            with gzip.GzipFile(fileobj=file) as unzipped:
                while piece := unzipped.read1(_CHUNK):
                    total += len(piece)
                    if total > most:
                        raise UnreadableFile(name, f"it unpacks to more than {MAX_UNPACK_RATIO} times its size")
                    yield piece
    except FileNotFoundError as error:
        raise UnreadableFile(name, "it is missing") from error
    except (OSError, EOFError, zlib.error) as error:
        raise UnreadableFile(name, f"it cannot be unpacked: {error}") from error


def unpack_lines(folder: Path, name: str, longest: int) -> Iterator[bytes]:
    """The lines of a gzip file without line ends; raise UnreadableFile, also for a line that is too long."""
    held: list[bytes] = []
    size = 0
    for piece in unpack_file(folder, name):
        first, *others = piece.split(b"\n")
        held.append(first)
        size += len(first)
        if size > longest:
            raise UnreadableFile(name, f"lines of at most {longest} bytes expected")
        if not others:
            continue
        yield b"".join(held)
        yield from others[:-1]
        held, size = [others[-1]], len(others[-1])
    if size:
        raise UnreadableFile(name, "a whole line expected at its end")


class RowParser:
    """Parses lines with exactly the columns and types of one table."""

    def __init__(self, table: Table, *, comparable: bool) -> None:
        self._table = table
        self._columns = table.shown(comparable=comparable)
        self._names = [column.name for column in self._columns]
        self._quoted = [f'"{name}"'.encode() for name in self._names]
        self._plain = [_plain_types(column) for column in self._columns]

    def parse(self, line: bytes) -> Row:
        """The row in a line; raise UnreadableFile."""
        return self.parse_all([line])[0]

    def parse_all(self, lines: Sequence[bytes]) -> list[Row]:
        """The rows in lines, whose types are checked column by column; raise UnreadableFile."""
        rows = self._load_all(lines)
        columns = transpose_rows(rows)
        for column, plain in zip(self._columns, self._plain, strict=True):
            values = columns.get(column.name, [])
            kinds = set(map(type, values))
            if not plain.issuperset(kinds) and not _fit_all(column, values, kinds):
                self._check(column, rows)
        return rows

    def _load_all(self, lines: Sequence[bytes]) -> list[Row]:
        with contextlib.suppress(orjson.JSONDecodeError):
            rows = list(map(orjson.loads, lines))
            is_whole = set(map(type, rows)) == {dict} and all(map(self._names.__eq__, map(list, rows)))
            if is_whole:
                if not _are_as_written(lines, rows):
                    for line in filter(self._may_repeat, lines):
                        self._load(line)
                return rows
        return [self._load(line) for line in lines]  # says which line is wrong

    def _may_repeat(self, line: bytes) -> bool:
        """Whether a line may name a member twice; nothing is copied, since a line may be as long as memory allows."""
        return b"\\u" in line or any(line.count(name) != 1 for name in self._quoted)

    def _load(self, line: bytes) -> Row:
        try:
            row: Row = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise UnreadableFile(self._file, f"a row in JSON expected: {error}") from error
        if not isinstance(row, dict) or list(row) != self._names:
            found = ", ".join(row)[:200] if isinstance(row, dict) else type(row).__name__
            raise UnreadableFile(
                self._file, f"the columns of {self._table.name} expected in their order, found {found}"
            )
        if _repeats_member(line, self._names):
            raise UnreadableFile(self._file, f"each column once expected in a row of {str(row['server'])[:40]}")
        return row

    def _check(self, column: Column, rows: Sequence[Row]) -> None:
        for row in rows:
            if not _fits(column, row[column.name]):
                what = f"{column.type.value}{' or null' if column.nullable else ''}"
                found = str(row[column.name])[:80]
                raise UnreadableFile(
                    self._file, f"{what} expected in `{column.name}` of {str(row['server'])[:40]}, found {found!r}"
                )

    @property
    def _file(self) -> str:
        return table_file_name(self._table, JSONL)


def _are_as_written(lines: Lines, rows: Sequence[Row]) -> bool:
    """Whether few lines are those that Hallmark writes for their rows, which names no member twice."""
    try:
        return sum(map(len, lines)) <= _FEW_BYTES and orjson.dumps(rows) == b"[%b]" % b",".join(lines)
    except orjson.JSONEncodeError:  # nested too deep
        return False


def _repeats_member(line: bytes, names: Sequence[str]) -> bool:
    """Whether an object names a member twice, of which others may read the first; or is nested too deep for a row."""
    try:
        members = json.loads(line, object_pairs_hook=list)
    except RecursionError:
        return True
    return [name for name, _ in members] != names


def _plain_types(column: Column) -> frozenset[type]:
    """The types of which every value fits a column; other values are checked one by one."""
    texts = {str} if column.type in {Type.TEXT, Type.TIME, Type.JSON} else set[type]()
    return frozenset(texts | {type(None)} if column.nullable else texts)


_DECIMAL: Final = re.compile(r"-?[0-9]{1,10}(\.[0-9]{1,28})?")
_INT64: Final = 2**63


def _fit_all(column: Column, values: Sequence[Any], kinds: AbstractSet[type]) -> bool:
    """Whether all values of these types fit a column, found from different ones; False where that is not known."""
    if kinds - {type(None)} not in ({str}, {int}, set()):  # True equals 1, and lists are in no set
        return False
    return all(_fits(column, value) for value in set(values))


def _fits(column: Column, value: Any) -> bool:
    if value is None:
        return column.nullable
    if column.type is Type.TEXTS:
        return isinstance(value, list) and all(isinstance(one, str) for one in value)
    if column.type is Type.INTEGER:
        return type(value) is int and abs(value) < _INT64
    if column.type is Type.BOOLEAN:
        return isinstance(value, bool)
    if not isinstance(value, str):
        return False
    return column.type is not Type.DECIMAL or _DECIMAL.fullmatch(value) is not None


def _server_of(line: bytes) -> str | None:
    if not line.startswith(_HEAD):
        return None
    end = line.find(b'"', len(_HEAD), len(_HEAD) + 100)
    return line[len(_HEAD) : end].decode("utf-8", "replace") if end > 0 else None


def _grouped(table: Table, lines: Iterator[tuple[str, bytes]]) -> Iterator[tuple[str, Lines]]:
    most = BULKY_SERVER_LIMIT if table.bulky else SERVER_LIMIT
    current, found, size = "", list[bytes](), 0
    for server, line in lines:
        if server != current:
            if found:
                yield current, found
            current, found, size = server, [], 0
        size += len(line)
        if size > most:
            raise UnreadableFile(table_file_name(table, JSONL), f"at most {most} bytes of rows expected of {server}")
        found.append(line)
    if found:
        yield current, found
