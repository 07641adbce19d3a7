"""Opinions of judges about texts, by the digest of the question: private evidence that no score reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, delete, select

from evidence.store.sql.bulk_insert import insert_rows, split_batches
from evidence.store.tables.core import OPINION

_COLUMNS: Final = ("digest", "at", "body")


def put_opinions(connection: Connection, bodies: Mapping[str, bytes], *, at: datetime) -> None:
    """Store the body of each question; the first opinion about a question stays."""
    rows = [(bytes.fromhex(digest), at, body) for digest, body in bodies.items()]
    insert_rows(connection, OPINION, _COLUMNS, rows, unique=["digest"])


def read_opinions(connection: Connection, digests: Sequence[str]) -> dict[str, bytes]:
    """The bodies of the questions that were answered, by hexadecimal digest."""
    found: dict[str, bytes] = {}
    for batch in split_batches([bytes.fromhex(digest) for digest in digests]):
        query = select(OPINION.c.digest, OPINION.c.body).where(OPINION.c.digest.in_(batch))
        found |= {row.digest.hex(): row.body for row in connection.execute(query)}
    return found


def drop_opinions(connection: Connection, before: datetime) -> int:
    """Drop the opinions of before a moment; return their number."""
    return connection.execute(delete(OPINION).where(OPINION.c.at < before)).rowcount
