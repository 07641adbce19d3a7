"""Bring a database to the newest schema, from the migrations that are installed beside the tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, text

if TYPE_CHECKING:
    from alembic.config import Config

_MIGRATIONS = Path(__file__).parent / "migrations"


def is_current(connection: Connection) -> bool:
    """True when the database is at the newest revision, or beyond it: a newer version's migrations let this one go on.

    Costs one small query and no import of Alembic.
    """
    revision: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return revision is not None and revision >= newest_revision()


def newest_revision() -> str:
    """The revision of the last migration; files are named `vREVISION_title.py`."""
    return max(path.stem for path in (_MIGRATIONS / "versions").glob("v*.py")).partition("_")[0].removeprefix("v")


def upgrade(connection: Connection) -> None:
    """Run the migrations that are missing, inside the connection's transaction."""
    from alembic import command  # noqa: PLC0415  an eighth of a second, which most processes never need

    command.upgrade(alembic_config(connection), "head")


def alembic_config(connection: Connection) -> Config:
    """Alembic's configuration without a file, on an open connection."""
    from alembic.config import Config  # noqa: PLC0415

    config = Config(attributes={"connection": connection})
    # A per cent sign in the path would be read as interpolation.
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config
