"""A migration lets processes of the version before go on: it adds, and what they read and write stays as it was.

What is no longer used is taken away a release later, by a migration that is named in `DROPPED`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory

from evidence.store import StoreError, open_store
from evidence.store.database import Database
from evidence.store.schema_upgrade import build_alembic_config, find_newest_revision
from tests.evidence.store.build import run

# By revision the columns (`table.column`) that it drops; the code stopped using them a release before.
DROPPED: Mapping[str, frozenset[str]] = {}

NOW = datetime(2026, 11, 1, tzinfo=UTC)
SAMPLES: Mapping[type, object] = {int: 1, str: "x", bytes: b"x", bool: False, datetime: NOW}


class Undo(Exception):
    """Rolls a transaction back."""


@pytest.fixture
def database(empty_url: str) -> Iterator[Database]:
    with closing(Database(empty_url)) as opened:
        yield opened


def revisions() -> Sequence[str]:
    """Every revision, oldest first."""
    with closing(Database("sqlite://")) as opened, opened.reading() as connection:
        script = ScriptDirectory.from_config(build_alembic_config(connection))
        return [one.revision for one in script.walk_revisions()][::-1]


def migrate(database: Database, revision: str) -> sa.MetaData:
    """Bring a database to a revision; its tables as they are then."""
    with database.migration_transaction() as connection:
        command.upgrade(build_alembic_config(connection), revision)
    return tables(database)


def tables(database: Database) -> sa.MetaData:
    """All tables but the full-text index, which is a virtual table in SQLite and has no columns of common types."""
    found = sa.MetaData()
    with database.reading() as connection:
        found.reflect(connection, only=lambda name, _: not name.startswith("listing_text"))
    return found


def shape(found: sa.MetaData) -> dict[str, str]:
    """Every column with its type, and whether it may be empty."""
    return {
        f"{table.name}.{column.name}": f"{column.type!r} {'NULL' if column.nullable else 'NOT NULL'}"
        for table in found.tables.values()
        for column in table.columns
    }


def unique(found: sa.MetaData) -> set[tuple[str, ...]]:
    """The columns of every index and constraint that forbids a row."""
    indexes = [one for table in found.tables.values() for one in table.indexes if one.unique]
    checks = [
        one
        for table in found.tables.values()
        for one in table.constraints
        if isinstance(one, sa.UniqueConstraint | sa.CheckConstraint | sa.ForeignKeyConstraint)
    ]
    return {
        (one.table.name, *sorted(column.name for column in one.columns))
        for one in (*indexes, *checks)
        if one.table is not None
    }


def write_as(found: sa.MetaData, database: Database) -> None:
    """Write a row into every table as code does that knows these columns, and undo it."""
    with pytest.raises(Undo), database.writing() as connection:
        for table in found.sorted_tables:
            if table.name != "alembic_version":
                connection.execute(sa.insert(table).values(row(table)))
                assert connection.execute(sa.select(table)).one()
        raise Undo


def row(table: sa.Table) -> dict[str, Any]:
    """A row without the columns that may be left out. All keys are 1, so references are right."""
    needed = [column for column in table.columns if not column.nullable and column.server_default is None]
    keys = [column.name for column in table.primary_key.columns if column.type.python_type is int]
    samples = {column.name: SAMPLES[column.type.python_type] for column in needed}
    return samples | dict.fromkeys(keys, 1)


def test_code_of_the_version_before_reads_and_writes_after_every_migration(database: Database) -> None:
    """With a single migration there is nothing to compare yet; the next test shows that a comparison can fail."""
    first, *later = revisions()
    before = migrate(database, first)
    write_as(before, database)
    revision = first
    for revision in later:
        after = migrate(database, revision)
        lost = {name: was for name, was in shape(before).items() if shape(after).get(name) != was}
        assert lost.keys() == DROPPED.get(revision, frozenset()), revision
        old = dict.fromkeys(before.tables)
        assert {one for one in unique(after) if one[0] in old} <= unique(before), revision
        if not lost:
            write_as(before, database)
        before = after
    assert revision == find_newest_revision()


@contextmanager
def operations(database: Database) -> Iterator[Operations]:
    with database.writing() as connection:
        yield Operations(MigrationContext.configure(connection))


def test_a_migration_that_stops_old_code_is_noticed(database: Database) -> None:
    """The test above can fail: for a column without a default, one that is gone, and a new constraint."""
    before = migrate(database, "head")
    write_as(before, database)
    with operations(database) as op, op.batch_alter_table("watermark") as watermark:
        watermark.add_column(sa.Column("extra", sa.Integer(), nullable=False))
    with pytest.raises(sa.exc.IntegrityError):
        write_as(before, database)
    with operations(database) as op, op.batch_alter_table("watermark") as watermark:
        watermark.drop_column("extra")
        watermark.drop_column("at")
    assert shape(before).keys() - shape(tables(database)).keys() == {"watermark.at"}
    with operations(database) as op:
        op.create_index("new", "run", ["state"], unique=True)
    assert unique(tables(database)) - unique(before) == {("run", "state")}


def test_a_process_of_the_version_before_starts_on_a_newer_database(url: str) -> None:
    with closing(Database(url)) as newer, newer.writing() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    with closing(open_store(url)) as store:
        store.migrate()
        store.add_run(run())
        assert [one.run for one in store.list_runs()] == [run()]


def test_a_database_of_before_the_first_release_is_refused_with_what_to_do(url: str) -> None:
    with closing(Database(url)) as older, older.writing() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0013'")
    with closing(open_store(url)) as store, pytest.raises(StoreError, match="0013, made before the first release"):
        store.migrate()
