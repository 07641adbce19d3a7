"""Rows that are never changed or deleted, as each connection has read them: most statements of a batch read the same.

They are kept on PostgreSQL only, whose sequences give no key twice, and only from reads outside a transaction: a row
that a transaction has inserted may be rolled back.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any, Final

from sqlalchemy import Connection

MOST: Final = 10_000
"""Rows of a table that a connection keeps."""


def recall_rows(connection: Connection, table: str) -> Mapping[Any, Any]:
    """What this connection has kept of a table, by key."""
    kept: Mapping[Any, Any] = connection.info.get((__name__, table), {})
    return kept


def keep_rows(connection: Connection, table: str, rows: Mapping[Any, Any]) -> None:
    """Keep committed rows of a table, by key, for as long as the connection is open."""
    if connection.dialect.name == "sqlite" or "isolation_level" in connection.get_execution_options():
        return
    kept = connection.info.setdefault((__name__, table), {})
    if len(kept) + len(rows) > MOST:
        kept = connection.info[(__name__, table)] = {}  # a caller may still read what it recalled
    kept.update(islice(rows.items(), MOST))
