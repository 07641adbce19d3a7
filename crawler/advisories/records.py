"""Writes records into the mirror: a whole archive or single ones. An invalid record is noted and ends nothing."""

from __future__ import annotations

import sqlite3
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from pathlib import PurePosixPath
from typing import IO, Final

import orjson
from msgspec import Struct

from crawler.advisories.mirror import pack_affected
from evidence.advisories.osv_record import Advisory, InvalidAdvisory, parse_advisory

MAX_RECORD: Final = 8 * 1024 * 1024
MAX_ENTRIES: Final = 3_000_000
MAX_UNPACKED: Final = 32 * 1024 * 1024 * 1024
_LEVEL: Final = 6
_BATCH: Final = 500
_MAX_NAME: Final = 120


class BadArchive(Exception):
    """The archive cannot be read; the message says why."""


class ValidRecord(Struct, frozen=True):
    """A record and its bytes. `modified` is the date of the export's list, else that of the record."""

    advisory: Advisory
    data: bytes
    modified: str


class InvalidRecord(Struct, frozen=True):
    """A record that could not be parsed, and why."""

    name: str
    why: str


def parse_record(name: str, data: bytes, modified: str | None = None) -> ValidRecord | InvalidRecord:
    """The record, which must have this id."""
    if len(data) > MAX_RECORD:
        return InvalidRecord(name, f"larger than {MAX_RECORD} bytes")
    try:
        advisory = parse_advisory(orjson.loads(data))
    except orjson.JSONDecodeError:
        return InvalidRecord(name, "not JSON")
    except InvalidAdvisory as error:
        return InvalidRecord(name, str(error))
    if advisory.id != name:
        return InvalidRecord(name, "it has the id of another record")
    return ValidRecord(advisory, data, modified or advisory.modified)


def read_archive_records(file: IO[bytes]) -> Iterator[ValidRecord | InvalidRecord]:
    """The records of an `all.zip`; raise BadArchive for an invalid archive or one above the size bounds."""
    try:
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise BadArchive(f"not a zip archive: {error}") from error
    with archive:
        entries = archive.infolist()
        if len(entries) > MAX_ENTRIES:
            raise BadArchive(f"{len(entries)} entries, at most {MAX_ENTRIES} expected")
        unpacked = 0
        for entry in entries:
            name = entry.filename
            if entry.is_dir() or not name.endswith(".json") or name != PurePosixPath(name).name:
                yield InvalidRecord(name[:_MAX_NAME], "not named like a record")
                continue
            found = _unpacked(archive, entry)
            unpacked += len(found) if isinstance(found, bytes) else MAX_RECORD
            if unpacked > MAX_UNPACKED:
                raise BadArchive(f"more than {MAX_UNPACKED} bytes when unpacked")
            stem = name.removesuffix(".json")
            yield parse_record(stem, found) if isinstance(found, bytes) else InvalidRecord(stem[:_MAX_NAME], found)


def replace_ecosystem_records(
    connection: sqlite3.Connection, ecosystem: str, found: Iterable[ValidRecord | InvalidRecord]
) -> tuple[int, list[InvalidRecord]]:
    """Replace all records of an ecosystem; the former version of a record that is invalid now stays.

    The caller holds a transaction. Returns the number of records written, and the invalid ones.
    """
    written = 0
    bad: list[InvalidRecord] = []
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS seen (id TEXT PRIMARY KEY) WITHOUT ROWID")
    connection.execute("DELETE FROM seen")
    fresh = connection.execute("SELECT 1 FROM record WHERE ecosystem = ? LIMIT 1", (ecosystem,)).fetchone() is None
    batch: list[ValidRecord] = []
    for one in found:
        if isinstance(one, InvalidRecord):
            bad.append(one)
            continue
        batch.append(one)
        if len(batch) == _BATCH:
            written += _flush(connection, ecosystem, batch, fresh=fresh)
            batch = []
    written += _flush(connection, ecosystem, batch, fresh=fresh)
    connection.executemany("INSERT OR IGNORE INTO seen VALUES (?)", [(one.name,) for one in bad])
    if not fresh:
        gone = connection.execute(
            "SELECT id FROM record WHERE ecosystem = ? AND id NOT IN (SELECT id FROM seen)", (ecosystem,)
        )
        delete_records(connection, ecosystem, [name for (name,) in gone.fetchall()])
    connection.execute("DELETE FROM bad WHERE ecosystem = ?", (ecosystem,))
    store_invalid_records(connection, ecosystem, bad)
    return written, bad


def upsert_records(connection: sqlite3.Connection, ecosystem: str, found: Iterable[ValidRecord]) -> int:
    """Write single records. The caller holds a transaction.

    A record that no longer names the ecosystem is kept, so that it is not fetched again, and matches nothing.
    """
    records = list({one.advisory.id: one for one in found}.values())
    delete_records(connection, ecosystem, [one.advisory.id for one in records])
    _insert(connection, ecosystem, records)
    return len(records)


def delete_records(connection: sqlite3.Connection, ecosystem: str, ids: Iterable[str]) -> None:
    """Delete records of an ecosystem. The caller holds a transaction."""
    keys = [(ecosystem, name) for name in ids]
    for table, column in (("record", "id"), ("affected", "id"), ("alias", "id"), ("bad", "name")):
        connection.executemany(f"DELETE FROM {table} WHERE ecosystem = ? AND {column} = ?", keys)  # noqa: S608  ours


def store_invalid_records(connection: sqlite3.Connection, ecosystem: str, bad: Iterable[InvalidRecord]) -> None:
    """Note invalid records. The caller holds a transaction."""
    rows = [(ecosystem, one.name.encode("utf-8", "replace").decode(), one.why) for one in bad]
    connection.executemany("INSERT OR REPLACE INTO bad VALUES (?, ?, ?)", rows)


def _unpacked(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes | str:
    """The bytes of an entry, at most one more than the bound, or why it cannot be read."""
    try:
        with archive.open(entry) as file:
            return file.read(MAX_RECORD + 1)
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, RuntimeError, ValueError) as error:
        return f"cannot be unpacked: {type(error).__name__}"


def _flush(connection: sqlite3.Connection, ecosystem: str, batch: list[ValidRecord], *, fresh: bool) -> int:
    connection.executemany("INSERT OR IGNORE INTO seen VALUES (?)", [(one.advisory.id,) for one in batch])
    if not fresh:
        return upsert_records(connection, ecosystem, batch)
    _insert(connection, ecosystem, batch)
    return len(batch)


def _insert(connection: sqlite3.Connection, ecosystem: str, records: list[ValidRecord]) -> None:
    connection.executemany(
        "INSERT OR REPLACE INTO record (ecosystem, id, modified, withdrawn, body) VALUES (?, ?, ?, ?, ?)",
        [
            (ecosystem, one.advisory.id, one.modified, one.advisory.withdrawn, zlib.compress(one.data, _LEVEL))
            for one in records
        ],
    )
    current = [one.advisory for one in records if not one.advisory.withdrawn]
    connection.executemany(
        "INSERT OR REPLACE INTO affected VALUES (?, ?, ?, ?)",
        [
            (ecosystem, name, advisory.id, pack_affected(advisory.about(ecosystem, name)))
            for advisory in current
            for name in {part.name for part in advisory.affected if part.ecosystem == ecosystem}
        ],
    )
    connection.executemany(
        "INSERT OR IGNORE INTO alias VALUES (?, ?, ?)",
        [(ecosystem, advisory.id, other) for advisory in current for other in advisory.aliases],
    )
