"""The trail of what was decided by whoever may decide: written with the change itself, never altered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, insert, select

from evidence.canonical import Json
from evidence.store.database import Database
from evidence.store.mapping import to_json, to_object
from evidence.store.people_models import AUDIT


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """One decision: who made it (a login or the name of a token), by which token, what, and what it changed.

    `token` is the id of the token, None for somebody at the command line. `number` is given by the store.
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


class Audit:
    """The trail of one database."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def record(self, act: Act) -> None:
        """Write down what changed elsewhere than in a table of this store."""
        with self._database.writing() as connection:
            put_act(connection, act)

    def read(self, limit: int = 100, *, subject: str | None = None, before: int | None = None) -> list[Act]:
        """Decisions about one subject or all, newest first; with `before` those with smaller numbers."""
        query = select(AUDIT).order_by(AUDIT.c.key.desc()).limit(limit)
        if subject is not None:
            query = query.where(AUDIT.c.subject == subject)
        if before is not None:
            query = query.where(AUDIT.c.key < before)
        with self._database.reading() as connection:
            return [_act(row) for row in connection.execute(query)]


def put_act(connection: Connection, act: Act) -> None:
    """Write a decision into the transaction that carries it out."""
    values = {name: getattr(act, name) for name in ("at", "who", "token", "what", "subject", "note")}
    documents = {"before": to_json(dict(act.before)), "after": to_json(dict(act.after))}
    connection.execute(insert(AUDIT).values(**values, **documents))


def _act(row: Row[Any]) -> Act:
    return Act(
        at=row.at,
        who=row.who,
        token=row.token,
        what=row.what,
        subject=row.subject,
        before=to_object(row.before),
        after=to_object(row.after),
        note=row.note,
        number=row.key,
    )
