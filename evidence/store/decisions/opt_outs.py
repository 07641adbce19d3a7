"""Opt-outs, with who entered and who revoked each. Rows are revoked, never deleted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from sqlalchemy import Connection, select, text, update

from evidence.store.database import Database
from evidence.store.decisions.audit_trail import AuditEntry, put_audit_entry
from evidence.store.listing.hidden_servers import hide_opted_out_servers
from evidence.store.tables.core import OPT_OUT

_OPT_OUTS: Final = 7_340_032_120
"""Lock under which entries are made on PostgreSQL; SQLite has one writer anyway."""


class OptOutScope(StrEnum):
    """What an opt-out names: a domain with everything below it, one host, or one server by its id or reference."""

    DOMAIN = "domain"
    HOST = "host"
    SERVER = "server"


@dataclass(frozen=True, slots=True, kw_only=True)
class OptOut:
    """One entry. `note` says why it was made and, on a further line, by whom and why it was revoked."""

    scope: OptOutScope
    value: str
    at: datetime
    who: str
    note: str
    revoked_at: datetime | None = None


class OptOuts:
    """The opt-outs of one database; each method is one transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add_opt_out(self, entry: OptOut, act: AuditEntry | None = None) -> bool:
        """Store an entry, with `act` in the trail; False when one of the same scope and value is in force."""
        with self._database.writing() as connection:
            return _noted(connection, add_opt_out(connection, entry), act)

    def revoke_opt_out(
        self, scope: OptOutScope, value: str, *, at: datetime, who: str, note: str = "", act: AuditEntry | None = None
    ) -> bool:
        """End an entry, which stays with who ended it and why; False when none was in force."""
        with self._database.writing() as connection:
            return _noted(connection, revoke_opt_out(connection, scope, value, at=at, who=who, note=note), act)

    def read_opt_outs(self, *, revoked: bool = False) -> list[OptOut]:
        """The entries in force, oldest first; with `revoked` also those that were ended."""
        # Exclusive: a concurrent reader could otherwise cache an answer that names a server which has just opted out.
        with self._database.reading(alone=True) as connection:
            return read_opt_outs(connection, revoked=revoked)


def add_opt_out(connection: Connection, entry: OptOut) -> bool:
    """Store an entry; False when one of the same scope and value is in force. Lists lose a server that it names."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _OPT_OUTS})
    if any(_is_same(entry, known) for known in read_opt_outs(connection, revoked=False)):
        return False
    values = {"scope": entry.scope.value, "value": entry.value, "at": entry.at, "who": entry.who, "note": entry.note}
    connection.execute(OPT_OUT.insert().values(values))
    if entry.scope is OptOutScope.SERVER:
        hide_opted_out_servers(connection)
    return True


def revoke_opt_out(
    connection: Connection, scope: OptOutScope, value: str, *, at: datetime, who: str, note: str
) -> bool:
    """End an entry, keeping it with who ended it and why; False when none was in force."""
    said = f"\nrevoked by {who}" + (f": {note}" if note else "")
    changed = connection.execute(
        update(OPT_OUT)
        .where(OPT_OUT.c.scope == scope.value, OPT_OUT.c.value == value, OPT_OUT.c.revoked_at.is_(None))
        .values(revoked_at=at, note=OPT_OUT.c.note + said)
    )
    return bool(changed.rowcount)


def read_opt_outs(connection: Connection, *, revoked: bool) -> list[OptOut]:
    """The entries in force, oldest first; with `revoked` also those that were ended."""
    query = select(OPT_OUT) if revoked else select(OPT_OUT).where(OPT_OUT.c.revoked_at.is_(None))
    return [
        OptOut(
            scope=OptOutScope(row.scope),
            value=row.value,
            at=row.at,
            who=row.who,
            note=row.note,
            revoked_at=row.revoked_at,
        )
        for row in connection.execute(query.order_by(OPT_OUT.c.key))
    ]


def _is_same(one: OptOut, other: OptOut) -> bool:
    return (one.scope, one.value) == (other.scope, other.value)


def _noted(connection: Connection, changed: bool, act: AuditEntry | None) -> bool:
    if changed and act is not None:
        put_audit_entry(connection, act)
    return changed
