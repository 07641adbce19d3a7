"""Migrations make exactly the tables of the models, once, also from several processes."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import inspect

from evidence.store import NotMigrated, Store, StoreError, StoreUnavailable, open_store
from evidence.store import database as database_module
from evidence.store.database import Database
from evidence.store.schema_upgrade import build_alembic_config, find_newest_revision
from evidence.store.tables.core import METADATA
from tests.evidence.store.build import run
from tests.servers import preloaded

pytestmark = pytest.mark.usefixtures("real_migrations")


def _is_of_models(name: str | None, kind: str, _: object) -> bool:
    """The full-text index is no model: SQLite has it as a virtual table with tables of its own behind it."""
    return kind != "table" or not str(name).startswith("listing_text")


def test_migrations_make_the_full_text_index(url: str) -> None:
    database = Database(url)
    with database.reading() as connection:
        assert "listing_text" in inspect(connection).get_table_names()
        if not database.is_sqlite:
            (index,) = (one for one in inspect(connection).get_indexes("listing_text"))
            assert index["dialect_options"]["postgresql_using"] == "gin"
    database.close()


def test_migrations_and_models_agree(url: str) -> None:
    database = Database(url)
    with database.reading() as connection:
        options = {"compare_type": True, "compare_server_default": True, "include_name": _is_of_models}
        assert compare_metadata(MigrationContext.configure(connection, opts=options), METADATA) == []
    database.close()


def test_forgotten_migration_is_noticed(url: str) -> None:
    """The test above can fail: a table and a column that no migration makes are found."""
    database = Database(url)
    with database.writing() as connection:
        connection.exec_driver_sql("ALTER TABLE watermark ADD COLUMN extra INTEGER")
        connection.exec_driver_sql("DROP TABLE snapshot")
        context = MigrationContext.configure(connection, opts={"include_name": _is_of_models})
        found = {difference[0] for difference in compare_metadata(context, METADATA)}
    assert found == {"remove_column", "add_table"}
    database.close()


def test_tables_have_one_head_revision() -> None:
    database = Database("sqlite://")
    with database.reading() as connection:
        assert ScriptDirectory.from_config(build_alembic_config(connection)).get_heads() == [find_newest_revision()]
    database.close()


def test_migrating_again_keeps_what_is_there(empty_url: str) -> None:
    store = open_store(empty_url)
    store.migrate()
    store.add_run(run())
    store.migrate()
    assert [row.run for row in store.list_runs()] == [run()]
    assert store.verify() == []
    store.close()


def test_current_database_is_opened_while_another_process_writes(store: Store, url: str) -> None:
    database = Database(url)
    with database.writing() as connection:
        connection.exec_driver_sql("DELETE FROM watermark")
        store.migrate()
    database.close()


def test_older_database_is_upgraded(url: str) -> None:
    database = Database(url)
    with database.writing() as connection:
        METADATA.drop_all(connection)
        connection.exec_driver_sql("DROP TABLE listing_text")
        connection.exec_driver_sql("DELETE FROM alembic_version")
    database.close()
    store = open_store(url)
    store.migrate()
    assert store.list_runs() == []
    store.close()


def test_opening_a_store_touches_nothing(tmp_path: Path) -> None:
    open_store(f"sqlite:///{tmp_path}/hallmark.db").close()
    open_store("postgresql+psycopg://nobody@127.0.0.1:1/none").close()
    assert list(tmp_path.iterdir()) == []


def test_database_without_tables_says_what_to_do(empty_url: str, tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    store = open_store(empty_url)
    with pytest.raises(NotMigrated, match="migrated"):
        store.list_runs()
    with pytest.raises(NotMigrated):
        store.add_run(run())
    store.close()


def test_database_that_does_not_answer_is_unavailable(tmp_path: Path) -> None:
    for url in ("postgresql+psycopg://nobody@127.0.0.1:1/none", f"sqlite:///{tmp_path}"):
        store = open_store(url)
        with pytest.raises(StoreUnavailable):
            store.list_runs()
        store.close()


def test_a_file_that_is_no_database_says_so(tmp_path: Path) -> None:
    (tmp_path / "hallmark.db").write_bytes(b"something else" * 1000)
    store = open_store(f"sqlite:///{tmp_path / 'hallmark.db'}")
    for question in (store.list_runs, store.migrate):
        with pytest.raises(StoreError, match="damaged or not one of ours"):
            question()
    store.close()


def test_a_connection_that_cannot_be_prepared_is_unavailable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # As on a read-only disk, where SQLite opens the file and fails at the first statement.
    def refuse(_connection: object, _record: object) -> None:
        raise sqlite3.OperationalError("unable to open database file")

    monkeypatch.setattr(database_module, "_prepare_sqlite", refuse)
    store = open_store(f"sqlite:///{tmp_path / 'hallmark.db'}")
    with pytest.raises(StoreUnavailable, match="unable to open"):
        store.migrate()
    store.close()


@pytest.mark.parametrize("url", ["", "nonsense", "mysterious://x/y", "sqlite+nothing:///x"])
def test_url_that_names_no_database_is_refused(url: str) -> None:
    with pytest.raises(StoreError):
        open_store(url)


def test_path_with_odd_characters_is_migrated(tmp_path: Path) -> None:
    path = tmp_path / "50% näme ü" / "a b.db"
    store = open_store(f"sqlite:///{path}")
    store.migrate()
    assert store.list_runs() == []
    store.close()
    assert path.exists()


_MIGRATE = """
import sys
from evidence.store import open_store
store = open_store(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
store.migrate()
"""


def test_processes_that_migrate_at_once_all_succeed(empty_url: str) -> None:
    processes = [
        preloaded.Popen(
            [sys.executable, "-c", _MIGRATE, empty_url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(2)
    ]
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in processes:
        process.communicate(timeout=300)
    assert [process.returncode for process in processes] == [0, 0]
    store = open_store(empty_url)
    store.add_run(run())
    assert store.verify() == []
    store.close()


def test_a_database_of_another_program_is_left_as_it_is(empty_url: str) -> None:
    database = Database(empty_url)
    with database.migration_transaction() as connection:
        connection.exec_driver_sql("CREATE TABLE cars (name TEXT)")
    store = open_store(empty_url)
    with pytest.raises(StoreError, match=r"found one of another program, with the tables cars"):
        store.migrate()
    with database.reading() as connection:
        assert inspect(connection).get_table_names() == ["cars"]
    store.close()
    database.close()


def test_a_revision_of_another_program_is_not_taken_for_ours(url: str) -> None:
    database = Database(url)
    with database.writing() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = 'fe12ab34cd56'")
    store = open_store(url)
    with pytest.raises(StoreError, match="of another program, at revision fe12ab34cd56"):
        store.migrate()
    store.close()
    database.close()
