"""A database is lent again as it was: without rows, and at the revision of its template."""

from __future__ import annotations

from sqlalchemy import text

from evidence.store.database import Database
from tests.servers.postgres import PostgresServer


def test_a_lent_database_has_its_revision_and_no_rows_again(
    session_postgres: PostgresServer, session_postgres_template: str
) -> None:
    def lend(statement: str) -> tuple[str, str, int]:
        with session_postgres.lent_database(session_postgres_template) as url:
            database = Database(url)
            with database.reading() as connection:
                revision = str(connection.scalar(text("SELECT version_num FROM alembic_version")))
                rows = int(connection.scalar(text("SELECT count(*) FROM watermark")) or 0)
            with database.writing() as connection:
                connection.execute(text(statement))
            database.close()
            return url, revision, rows

    first = lend("UPDATE alembic_version SET version_num = 'fe12ab34cd56'")
    assert first[2] == 0
    assert lend("DELETE FROM alembic_version") == first
    assert lend("SELECT 1") == first
