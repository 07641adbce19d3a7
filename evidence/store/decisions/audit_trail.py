"""The audit trail of decisions: written in the transaction of the change, never altered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, insert, select

from evidence.canonical import Json
from evidence.store.database import Database
from evidence.store.sql.json_columns import object_from_json, to_json
from evidence.store.tables.community import AUDIT


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One decision: who made it (a login or the name of a token), by which token, what, and what it changed.

    `token` is the id of the token, None for the command line. `number` is given by the store.
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


class AuditTrail:
    """The trail of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put_entry(self, act: AuditEntry) -> None:
        """Write down what changed elsewhere than in a table of this store."""
        with self._database.writing() as connection:
            put_audit_entry(connection, act)

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
            return [_act(row) for row in connection.execute(query)]


def put_audit_entry(connection: Connection, act: AuditEntry) -> None:
    """Write a decision into the transaction that carries it out."""
    values = {name: getattr(act, name) for name in ("at", "who", "token", "what", "subject", "note")}
    documents = {"before": to_json(dict(act.before)), "after": to_json(dict(act.after))}
    connection.execute(insert(AUDIT).values(**values, **documents))


def _act(row: Row[Any]) -> AuditEntry:
    return AuditEntry(
        at=row.at,
        who=row.who,
        token=row.token,
        what=row.what,
        subject=row.subject,
        before=object_from_json(row.before),
        after=object_from_json(row.after),
        note=row.note,
        number=row.key,
    )
