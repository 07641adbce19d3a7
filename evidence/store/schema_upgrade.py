"""Upgrades a database to the newest schema with the installed migrations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, inspect, text

from evidence.store.errors import StoreError
from evidence.store.tables.core import METADATA

if TYPE_CHECKING:
    from alembic.config import Config

_MIGRATIONS = Path(__file__).parent / "migrations"


def is_schema_current(connection: Connection) -> bool:
    """True at the newest revision or a later one, since migrations of newer versions stay compatible with this code.

    Costs one small query and no import of Alembic. Raises StoreError for the database of another program, and for
    one without an upgrade.
    """
    revision: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
    if revision is not None and not (revision.isdecimal() and len(revision) == len(find_newest_revision())):
        raise _foreign_database(f"at revision {revision}")
    if revision is not None and revision < min(_list_revisions()):
        raise StoreError(
            f"expected a database at revision {min(_list_revisions())} or later; found {revision}, "
            "made before the first release: name a new database"
        )
    return revision is not None and revision >= find_newest_revision()


def refuse_foreign_database(connection: Connection) -> None:
    """Raise StoreError when the database has tables but none of ours, so that none are added to another program's."""
    names = set(inspect(connection).get_table_names())
    if names and names.isdisjoint(METADATA.tables):
        raise _foreign_database(f"with the tables {', '.join(sorted(names)[:3])}")


def _foreign_database(found: str) -> StoreError:
    expected = "expected a database of Hallmark's, or an empty one"
    return StoreError(f"{expected}; found one of another program, {found}: name another database")


def find_newest_revision() -> str:
    """The revision of the last migration; files are named `vREVISION_title.py`."""
    return max(_list_revisions())


def _list_revisions() -> list[str]:
    return [path.stem.partition("_")[0].removeprefix("v") for path in (_MIGRATIONS / "versions").glob("v*.py")]


def upgrade_schema(connection: Connection) -> None:
    """Run the missing migrations in the connection's transaction."""
    from alembic import command  # noqa: PLC0415  takes an eighth of a second; most processes never need it

    command.upgrade(build_alembic_config(connection), "head")


def build_alembic_config(connection: Connection) -> Config:
    """Alembic's configuration without a file, on an open connection."""
    from alembic.config import Config  # noqa: PLC0415

    config = Config(attributes={"connection": connection})
    # A per cent sign in the path would be read as interpolation.
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config
