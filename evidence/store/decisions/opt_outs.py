"""Opt-outs, with the operators who entered and revoked them. Rows are revoked, never deleted."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Final

from msgspec import Struct
from sqlalchemy import Connection, select, text, update

from evidence.store.decisions.audit_trail import AuditEntry, put_audit_entry
from evidence.store.listing.hidden_servers import hide_opted_out_servers
from evidence.store.tables.core import OPT_OUT
from evidence.store.transactions import DatabaseAccess

_COLUMNS: Final = ("value", "at", "who", "note", "revoked_at")

_OPT_OUTS: Final = 7_340_032_120
"""The advisory lock for adding entries on PostgreSQL; SQLite has one writer."""


class OptOutScope(StrEnum):
    """What an opt-out covers: a domain and its subdomains, one host, or one server by its id or reference."""

    DOMAIN = "domain"
    HOST = "host"
    SERVER = "server"


class OptOut(Struct, frozen=True, kw_only=True):
    """One entry. `note` holds its reason and, on a second line, who revoked it and why."""

    scope: OptOutScope
    value: str
    at: datetime
    who: str
    note: str
    revoked_at: datetime | None = None


class OptOuts(DatabaseAccess):
    """The opt-outs of one database; each method is one transaction."""

    def add_opt_out(self, entry: OptOut, act: AuditEntry | None = None) -> bool:
        """Store an entry, with `act` in the audit trail; False when an entry of its scope and value is in force."""
        with self._database.writing() as connection:
            return _audit(connection, add_opt_out(connection, entry), act)

    def revoke_opt_out(
        self, scope: OptOutScope, value: str, *, at: datetime, who: str, note: str = "", act: AuditEntry | None = None
    ) -> bool:
        """Revoke an entry, with `act` in the audit trail; False when none is in force."""
        with self._database.writing() as connection:
            return _audit(connection, revoke_opt_out(connection, scope, value, at=at, who=who, note=note), act)

    def read_opt_outs(self, *, revoked: bool = False) -> list[OptOut]:
        """The entries in force, oldest first; with `revoked` also the revoked ones."""
        # Alone: a reader within `shared_reading` could otherwise cache an answer that names a server just opted out.
        with self._database.reading(alone=True) as connection:
            return read_opt_outs(connection, revoked=revoked)


def add_opt_out(connection: Connection, entry: OptOut) -> bool:
    """Store an entry and hide the server that it names; False when an entry of its scope and value is in force."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _OPT_OUTS})
    in_force = read_opt_outs(connection, revoked=False)
    if any((entry.scope, entry.value) == (known.scope, known.value) for known in in_force):
        return False
    values = {"scope": entry.scope.value, "value": entry.value, "at": entry.at, "who": entry.who, "note": entry.note}
    connection.execute(OPT_OUT.insert().values(values))
    if entry.scope is OptOutScope.SERVER:
        hide_opted_out_servers(connection)
    return True


def revoke_opt_out(
    connection: Connection, scope: OptOutScope, value: str, *, at: datetime, who: str, note: str
) -> bool:
    """Revoke an entry and add the operator and reason to its note; False when none is in force."""
    revocation = f"\nrevoked by {who}" + (f": {note}" if note else "")
    changed = connection.execute(
        update(OPT_OUT)
        .where(OPT_OUT.c.scope == scope.value, OPT_OUT.c.value == value, OPT_OUT.c.revoked_at.is_(None))
        .values(revoked_at=at, note=OPT_OUT.c.note + revocation)
    )
    return bool(changed.rowcount)


def read_opt_outs(connection: Connection, *, revoked: bool) -> list[OptOut]:
    """The entries in force, oldest first; with `revoked` also the revoked ones."""
    query = select(OPT_OUT) if revoked else select(OPT_OUT).where(OPT_OUT.c.revoked_at.is_(None))
    rows = connection.execute(query.order_by(OPT_OUT.c.key))
    return [OptOut(scope=OptOutScope(row.scope), **{name: getattr(row, name) for name in _COLUMNS}) for row in rows]


def _audit(connection: Connection, changed: bool, act: AuditEntry | None) -> bool:
    if changed and act is not None:
        put_audit_entry(connection, act)
    return changed
