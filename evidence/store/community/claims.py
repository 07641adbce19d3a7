"""Claims of control of servers: made with a token that their proof activates, and checked until they end."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Connection, Row, bindparam, func, insert, select, text, update

from evidence.model import ServerId
from evidence.store.community.claim_values import Claim, ClaimLimits, ClaimState, ProofMethod
from evidence.store.community.tokens import ApiToken, put_token
from evidence.store.decisions.audit_trail import AuditEntry, put_audit_entry
from evidence.store.sql.row_keys import find_server_keys
from evidence.store.tables.community import CLAIM
from evidence.store.tables.core import SERVER
from evidence.store.transactions import DatabaseAccess

_CLAIMS: Final = 7_340_032_121
"""The advisory lock for adding claims on PostgreSQL, so that their limits hold; SQLite has one writer."""

_ALIVE: Final = [state.value for state in ClaimState if state.is_alive]
_QUERY: Final = select(SERVER.c.id.label("server"), CLAIM).join(SERVER, SERVER.c.key == CLAIM.c.server_key)
_PROVEN: Final = (
    select(CLAIM.c.key)
    .join(SERVER, SERVER.c.key == CLAIM.c.server_key)
    .where(SERVER.c.id == bindparam("server"), CLAIM.c.state == ClaimState.PROVEN.value)
    .limit(1)
)
_COLUMNS: Final = ("id", "place", "challenge", "client", "asked_at", "due_at", "tries", "seen_at", "note")


class Claims(DatabaseAccess):
    """The claims of one database; each method is one transaction."""

    def put_claim(self, claim: Claim, token: ApiToken, limits: ClaimLimits) -> bool:
        """Store a claim with the token that is valid once the claim is proven; False when a limit is reached."""
        with self._database.writing() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _CLAIMS})
            key = find_server_keys(connection, [claim.server])[claim.server]
            recent = select(func.count()).where(CLAIM.c.client == claim.client, CLAIM.c.asked_at > limits.since)
            if (connection.scalar(recent) or 0) >= limits.of_client or not _has_room(connection, key, limits):
                return False
            values = {name: getattr(claim, name) for name in _COLUMNS}
            states = {"way": claim.way.value, "state": claim.state.value, "server_key": key}
            made = connection.execute(insert(CLAIM).values(**values, **states))
            put_token(connection, token, made.inserted_primary_key[0])  # type: ignore[index]
        return True

    def find_claim(self, claim: str) -> Claim | None:
        with self._database.reading() as connection:
            row = connection.execute(_QUERY.where(CLAIM.c.id == claim)).one_or_none()
        return None if row is None else _claim(row)

    def list_claims(self, *, server: ServerId | None = None, ended: bool = False, limit: int = 200) -> list[Claim]:
        """Waiting and proven claims of one server or all, newest first; with `ended` the others too."""
        query = _QUERY.order_by(CLAIM.c.key.desc()).limit(limit)
        if server is not None:
            query = query.where(SERVER.c.id == server)
        if not ended:
            query = query.where(CLAIM.c.state.in_(_ALIVE))
        with self._database.reading() as connection:
            return [_claim(row) for row in connection.execute(query)]

    def is_controlled(self, server: ServerId) -> bool:
        with self._database.reading() as connection:
            return connection.execute(_PROVEN, {"server": server}).first() is not None

    def schedule_check(self, claim: str, at: datetime) -> bool:
        """Make the check of a claim due at a time; False when the claim has ended."""
        alive = (CLAIM.c.id == claim, CLAIM.c.state.in_(_ALIVE))
        with self._database.writing() as connection:
            return bool(connection.execute(update(CLAIM).where(*alive).values(due_at=at)).rowcount)

    def lease_due(self, now: datetime, limit: int, lease: timedelta) -> list[Claim]:
        """Claims whose check is due, leased to the caller for `lease`."""
        due = (CLAIM.c.due_at <= now, CLAIM.c.state.in_(_ALIVE))
        with self._database.writing() as connection:
            rows = connection.execute(_QUERY.where(*due).order_by(CLAIM.c.due_at, CLAIM.c.key).limit(limit)).all()
            taken = []
            for row in rows:
                still = (CLAIM.c.key == row.key, CLAIM.c.due_at == row.due_at)
                if connection.execute(update(CLAIM).where(*still).values(due_at=now + lease)).rowcount:
                    taken.append(_claim(row))
        return taken

    def record_check(self, claim: Claim, act: AuditEntry | None = None) -> bool:
        """Store the result of a check or, with `act`, an operator's decision; False when the claim has ended."""
        result = {name: getattr(claim, name) for name in ("due_at", "tries", "seen_at", "note")}
        alive = (CLAIM.c.id == claim.id, CLAIM.c.state.in_(_ALIVE))
        with self._database.writing() as connection:
            changed = connection.execute(update(CLAIM).where(*alive).values(**result, state=claim.state.value)).rowcount
            if changed and act is not None:
                put_audit_entry(connection, act)
        return bool(changed)


def _has_room(connection: Connection, server: int, limits: ClaimLimits) -> bool:
    """Whether a server may have one more unproven claim; expires its oldest one when that is stale."""
    unproven = (CLAIM.c.server_key == server, CLAIM.c.state == ClaimState.WAITING.value)
    waiting = connection.execute(select(CLAIM.c.key, CLAIM.c.asked_at).where(*unproven).order_by(CLAIM.c.key)).all()
    if len(waiting) < limits.of_server:
        return True
    oldest = waiting[0]
    if oldest.asked_at > limits.stale:
        return False
    connection.execute(update(CLAIM).where(CLAIM.c.key == oldest.key).values(state=ClaimState.EXPIRED.value))
    return True


def _claim(row: Row[Any]) -> Claim:
    known = {name: getattr(row, name) for name in _COLUMNS}
    return Claim(**known, server=row.server, way=ProofMethod(row.way), state=ClaimState(row.state))
