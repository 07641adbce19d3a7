"""Disputes of receipt lines: filed within limits and decided with a trail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import replace
from sqlalchemy import ColumnElement, Connection, Integer, Row, bindparam, func, insert, select, text, update

from evidence.model import ServerId
from evidence.store.community.dispute_values import (
    Dispute,
    DisputeDecision,
    DisputedLine,
    DisputeLimit,
    DisputeLimits,
    DisputeState,
    UnknownDispute,
)
from evidence.store.decisions.audit_trail import AuditEntry, put_audit_entry
from evidence.store.errors import IllegalTransition
from evidence.store.sql.key_sets import KEYS, matches_any
from evidence.store.sql.row_keys import find_server_keys
from evidence.store.tables.community import DISPUTE, DISPUTE_ACT
from evidence.store.tables.core import SERVER
from evidence.store.transactions import DatabaseAccess

_DISPUTES: Final = 7_340_032_122
"""The advisory lock for filing disputes on PostgreSQL, so that their limits hold; SQLite has one writer."""

_OWN: Final = ("id", "reason", "contact", "client", "by_maintainer", "filed_at", "is_shown", "answer", "decided_at")
_OF_LINE: Final = ("run", "rubric", "version", "cites", "rule", "at", "why")
_QUERY: Final = select(SERVER.c.id.label("server"), DISPUTE).join(SERVER, SERVER.c.key == DISPUTE.c.server_key)
_OF_SERVER: Final = (
    _QUERY.where(SERVER.c.id == bindparam("server"), matches_any(DISPUTE.c.state))
    .order_by(DISPUTE.c.key.desc())
    .limit(bindparam("limit", type_=Integer))
)
"""The query of every server page, built once."""

_IS_OPEN: Final = DISPUTE.c.state == DisputeState.OPEN.value


class Disputes(DatabaseAccess):
    """The disputes of one database; each method is one transaction."""

    def put_dispute(self, dispute: Dispute, limits: DisputeLimits) -> Dispute | DisputeLimit:
        """Store a dispute and return it, or the client's open dispute of the line, or the limit that refuses it."""
        with self._database.writing() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _DISPUTES})
            return _file(connection, dispute, limits)

    def decide_dispute(self, dispute: str, decision: DisputeDecision, act: AuditEntry) -> Dispute:
        """Change a dispute, with its trail entry and the audit entry `act`; return the changed dispute.

        Raise UnknownDispute, or IllegalTransition when it is not in the state that the decision starts from.
        """
        with self._database.writing() as connection:
            return _decide(connection, dispute, decision, act)

    def find_dispute(self, dispute: str) -> Dispute | None:
        with self._database.reading() as connection:
            row = connection.execute(_QUERY.where(DISPUTE.c.id == dispute)).one_or_none()
        return None if row is None else _dispute(row)

    def list_disputes(
        self,
        *,
        server: ServerId | None = None,
        states: Sequence[DisputeState] | None = None,
        limit: int = 200,
        prefix: str = "",
    ) -> list[Dispute]:
        """Disputes of one server or all, in these states, newest first; `prefix` is the beginning of an id."""
        if server is not None and states is not None and not prefix:
            values = {"server": server, KEYS: [state.value for state in states], "limit": limit}
            with self._database.reading() as connection:
                return [_dispute(row) for row in connection.execute(_OF_SERVER, values)]
        wanted: list[ColumnElement[bool]] = []
        if server is not None:
            wanted.append(SERVER.c.id == server)
        if states is not None:
            wanted.append(DISPUTE.c.state.in_([state.value for state in states]))
        if prefix:
            wanted.append(DISPUTE.c.id.startswith(prefix, autoescape=True))
        with self._database.reading() as connection:
            rows = connection.execute(_QUERY.where(*wanted).order_by(DISPUTE.c.key.desc()).limit(limit))
            return [_dispute(row) for row in rows]

    def read_trail(self, dispute: str) -> list[DisputeDecision]:
        """The decisions about a dispute, oldest first, without answers, which the dispute itself holds."""
        query = select(DISPUTE_ACT).join(DISPUTE, DISPUTE.c.key == DISPUTE_ACT.c.dispute_key)
        with self._database.reading() as connection:
            rows = connection.execute(query.where(DISPUTE.c.id == dispute).order_by(DISPUTE_ACT.c.key))
            return [_decision(row) for row in rows]


def _file(connection: Connection, dispute: Dispute, limits: DisputeLimits) -> Dispute | DisputeLimit:
    digest = dispute.line.digest
    mine = _QUERY.where(DISPUTE.c.line == digest, DISPUTE.c.client == dispute.client, _IS_OPEN)
    if known := connection.execute(mine).first():
        return _dispute(known)
    key = find_server_keys(connection, [dispute.line.server])[dispute.line.server]
    if _count(connection, DISPUTE.c.client == dispute.client, DISPUTE.c.filed_at > limits.since) >= limits.of_client:
        return DisputeLimit.CLIENT
    if not dispute.by_maintainer:  # otherwise disputes of strangers could exclude the maintainer
        if _count(connection, DISPUTE.c.line == digest, _IS_OPEN) >= limits.of_line:
            return DisputeLimit.LINE
        if _count(connection, DISPUTE.c.server_key == key, _IS_OPEN) >= limits.of_server:
            return DisputeLimit.SERVER
    values = {name: getattr(dispute, name) for name in _OWN}
    values |= {name: getattr(dispute.line, name) for name in _OF_LINE}
    connection.execute(insert(DISPUTE).values(**values, server_key=key, line=digest, state=dispute.state.value))
    return dispute


def _decide(connection: Connection, dispute: str, decision: DisputeDecision, act: AuditEntry) -> Dispute:
    row = connection.execute(_QUERY.where(DISPUTE.c.id == dispute)).one_or_none()
    if row is None:
        raise UnknownDispute(f"no dispute {dispute} in this store")
    known = _dispute(row)
    moves = decision.after is not known.state
    if known.state is not decision.before or (moves and decision.after not in known.state.next):
        after = ", ".join(sorted(known.state.next))
        raise IllegalTransition(f"{dispute} is {known.state}, which may become {after}; asked for: {decision.after}")
    changed = replace(
        known,
        state=decision.after,
        is_shown=known.is_shown if decision.shown is None else decision.shown,
        answer=known.answer if decision.answer is None else decision.answer or None,
        decided_at=(None if decision.after is DisputeState.OPEN else decision.at) if moves else known.decided_at,
    )
    values = {name: getattr(changed, name) for name in ("is_shown", "answer", "decided_at")}
    still = (DISPUTE.c.key == row.key, DISPUTE.c.state == known.state.value)
    if not connection.execute(update(DISPUTE).where(*still).values(**values, state=changed.state.value)).rowcount:
        raise IllegalTransition(f"{dispute} was changed at the same time by another client; read it again")
    entry = {name: getattr(decision, name) for name in ("at", "who", "before", "after", "note")}
    connection.execute(insert(DISPUTE_ACT).values(**entry, dispute_key=row.key))
    put_audit_entry(connection, act)
    return changed


def _count(connection: Connection, *wanted: ColumnElement[bool]) -> int:
    return connection.scalar(select(func.count()).select_from(DISPUTE).where(*wanted)) or 0


def _dispute(row: Row[Any]) -> Dispute:
    line = DisputedLine(server=row.server, **{name: getattr(row, name) for name in _OF_LINE})
    return Dispute(line=line, state=DisputeState(row.state), **{name: getattr(row, name) for name in _OWN})


def _decision(row: Row[Any]) -> DisputeDecision:
    before, after = DisputeState(row.before), DisputeState(row.after)
    return DisputeDecision(at=row.at, who=row.who, before=before, after=after, note=row.note)
