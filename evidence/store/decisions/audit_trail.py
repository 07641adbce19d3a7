"""The audit trail of decisions: written in the transaction of the decision, never altered."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct, field
from sqlalchemy import Connection, Row, insert, select

from evidence.canonical import Json
from evidence.store.sql.json_columns import object_from_json, to_json
from evidence.store.tables.community import AUDIT
from evidence.store.transactions import DatabaseAccess

_COLUMNS = ("at", "who", "token", "what", "subject", "note")


class AuditEntry(Struct, frozen=True, kw_only=True):
    """One decision of an operator, with the state before and after it.

    `who` is a login or the name of a token, `token` the token's id, None for the command line. The store sets `number`.
    """

    at: datetime
    who: str
    what: str
    subject: str
    token: str | None = None
    before: Mapping[str, Json] = field(default_factory=dict)
    after: Mapping[str, Json] = field(default_factory=dict)
    note: str = ""
    number: int | None = None


class AuditTrail(DatabaseAccess):
    """The trail of one database."""

    def put_entry(self, entry: AuditEntry) -> None:
        """Record a decision that changed something outside this store."""
        with self._database.writing() as connection:
            put_audit_entry(connection, entry)

    def read_entries(
        self, limit: int = 100, *, subject: str | None = None, before: int | None = None
    ) -> list[AuditEntry]:
        """Decisions about one subject or all, newest first; with `before` those with smaller numbers."""
        query = select(AUDIT).order_by(AUDIT.c.key.desc()).limit(limit)
        if subject is not None:
            query = query.where(AUDIT.c.subject == subject)
        if before is not None:
            query = query.where(AUDIT.c.key < before)
        with self._database.reading() as connection:
            return [_entry(row) for row in connection.execute(query)]


def put_audit_entry(connection: Connection, entry: AuditEntry) -> None:
    """Record a decision in the transaction that carries it out."""
    values = {name: getattr(entry, name) for name in _COLUMNS}
    documents = {"before": to_json(dict(entry.before)), "after": to_json(dict(entry.after))}
    connection.execute(insert(AUDIT).values(**values, **documents))


def _entry(row: Row[Any]) -> AuditEntry:
    known = {name: getattr(row, name) for name in _COLUMNS}
    before, after = object_from_json(row.before), object_from_json(row.after)
    return AuditEntry(number=row.key, before=before, after=after, **known)
