"""Damage is named, not read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from evidence import zstd
from evidence.store import CorruptBlob, Store, blobs
from evidence.store.database import Database
from evidence.store.sql.packing import pack_numbers
from tests.evidence.store.build import AS_OF, body, card, planned, record

RUN = "20261121-1"


@pytest.fixture
def damage(store: Store, url: str) -> Iterator[Database]:
    (one,) = planned(store, 1)
    store.put_records(RUN, [record(one.id, body(1))], at=AS_OF)
    store.put_scorecards(RUN, [card(one.id)], at=AS_OF)
    database = Database(url)
    yield database
    database.close()


def change(database: Database, columns: str, *values: object) -> None:
    """Overwrite columns of the record's blob."""
    with database.writing() as connection:
        place = "?" if database.is_sqlite else "%s"
        connection.exec_driver_sql(
            f"UPDATE evidence_blob SET {columns.replace('?', place)} WHERE digest = {place}",
            (*values, bytes.fromhex(body(1).digest)),
        )


def test_sound_store_has_no_problems(store: Store, damage: Database) -> None:
    assert store.verify() == []


def bomb() -> bytes:
    return zstd.compress(bytes(1 << 26))


@pytest.mark.parametrize(
    ("columns", "values"),
    [
        ("body = ?", [zstd.compress(b"other")]),
        ("body = ?", [b"not zstd"]),
        ("body = ?", [b""]),
        ("body = ?", [bomb()]),
        ("body = ?", [blobs.new_compressor().compress(bytes(1 << 26), zstd.ZstdCompressor.FLUSH_FRAME)]),
        ("codec = ?", [0]),
        ("codec = ?", [9]),
        ("size = ?", [0]),
        ("size = ?", [1 << 30]),
        ("size = ?", [3]),
    ],
    ids=str,
)
def test_corrupt_blob_is_named_and_never_returned(
    store: Store, damage: Database, columns: str, values: list[object]
) -> None:
    change(damage, columns, *values)
    (server,) = store.list_active_servers()
    with pytest.raises(CorruptBlob, match=body(1).digest):
        store.read_dossiers(RUN, [server.id])
    problems = store.verify()
    assert len(problems) == 1
    assert body(1).digest in problems[0]


def test_corrupt_scorecard_is_named(store: Store, damage: Database) -> None:
    with damage.writing() as connection:
        connection.exec_driver_sql("UPDATE receipt SET codec = 7")
    with pytest.raises(CorruptBlob, match="lint@1"):
        store.read_scorecards(RUN)
    assert len(store.verify()) == 1


def test_row_that_refers_to_nothing_is_found(store: Store, damage: Database) -> None:
    with damage.writing() as connection:
        if damage.is_sqlite:
            connection.exec_driver_sql("ROLLBACK")
            connection.exec_driver_sql("PRAGMA foreign_keys = OFF")
            connection.exec_driver_sql("BEGIN IMMEDIATE")
        else:
            connection.exec_driver_sql("ALTER TABLE server_ref DROP CONSTRAINT fk_server_ref_entry_key")
        connection.exec_driver_sql("UPDATE server_ref SET entry_key = 999")
    assert store.verify() == ["1 rows of server_ref have a entry_key that does not exist"]


@pytest.mark.parametrize(
    ("damaged", "said"),
    [
        ("UPDATE record_set SET blobs = ?", "blob 999, which is not stored"),
        ("UPDATE scoring SET blobs = ?", "blob 999, which is not stored"),
        ("UPDATE scoring SET receipts = ?", "receipt 999, which is not stored"),
        ("UPDATE record_set SET notes = ?", "begins no packed text"),
    ],
)
def test_key_in_a_packed_row_that_leads_nowhere_is_found(
    store: Store, damage: Database, damaged: str, said: str
) -> None:
    with damage.writing() as connection:
        number = pack_numbers([999])
        placeholder = "?" if damage.is_sqlite else "%s"
        connection.exec_driver_sql(damaged.replace("?", placeholder), (number,))
    assert [said in problem for problem in store.verify()] == [True]


def test_body_that_does_not_shrink_is_stored_as_it_is() -> None:
    codec, size, stored = blobs.compress_body(b"abc", blobs.new_compressor())
    assert (codec, size, stored) == (blobs.Codec.RAW, 3, b"abc")
    codec, size, stored = blobs.compress_body(b"abc" * 1000, blobs.new_compressor())
    assert (codec, size) == (blobs.Codec.ZSTD, 3000)
    assert len(stored) < 100
