"""Webhooks and the log of their deliveries. A message is stored before it is sent, so a crash loses none."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any, Final

from sqlalchemy import Row, Select, func, insert, or_, select, text, update

from evidence.model import ServerId
from evidence.store.community.webhook_values import Delivery, DeliveryState, Webhook
from evidence.store.decisions.audit_trail import AuditEntry, put_audit_entry
from evidence.store.sql.row_keys import find_server_keys
from evidence.store.tables.community import DELIVERY, WEBHOOK
from evidence.store.tables.core import SERVER
from evidence.store.transactions import DatabaseAccess

_WEBHOOKS: Final = 7_340_032_123
"""The advisory lock for adding webhooks on PostgreSQL, so that their limit holds; SQLite has one writer."""

_WEBHOOK: Final = ("id", "url", "token", "made_at", "run", "failures", "ended_at", "why")
_DELIVERY: Final = ("id", "run", "body", "made_at", "attempts", "due_at", "tried_at", "said")
_IN_FORCE: Final = WEBHOOK.c.ended_at.is_(None)


class Webhooks(DatabaseAccess):
    """The webhooks of one database; each method is one transaction."""

    def put_webhook(self, webhook: Webhook, most: int, act: AuditEntry) -> bool:
        """Store a webhook with its entry in the audit trail; False when its server has `most` already."""
        with self._database.writing() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _WEBHOOKS})
            key = find_server_keys(connection, [webhook.server])[webhook.server]
            known = select(func.count()).select_from(WEBHOOK).where(WEBHOOK.c.server_key == key, _IN_FORCE)
            if (connection.scalar(known) or 0) >= most:
                return False
            values = {name: getattr(webhook, name) for name in _WEBHOOK}
            connection.execute(insert(WEBHOOK).values(**values, server_key=key))
            put_audit_entry(connection, act)
        return True

    def find_webhook(self, webhook: str) -> Webhook | None:
        with self._database.reading() as connection:
            row = connection.execute(_query().where(WEBHOOK.c.id == webhook)).one_or_none()
        return None if row is None else _webhook(row)

    def list_webhooks(self, *, server: ServerId | None = None, ended: bool = False) -> list[Webhook]:
        """Active webhooks of one server or all, oldest first; with `ended` the others too."""
        query = _query().order_by(WEBHOOK.c.key)
        if server is not None:
            query = query.where(SERVER.c.id == server)
        if not ended:
            query = query.where(_IN_FORCE)
        with self._database.reading() as connection:
            return [_webhook(row) for row in connection.execute(query)]

    def end_webhook(self, webhook: str, why: str, act: AuditEntry) -> bool:
        """End a webhook and fail its waiting deliveries; False when it has ended already."""
        with self._database.writing() as connection:
            still = (WEBHOOK.c.id == webhook, _IN_FORCE)
            ended = connection.execute(update(WEBHOOK).where(*still).values(ended_at=act.at, why=why)).rowcount
            if ended:
                mine = select(WEBHOOK.c.key).where(WEBHOOK.c.id == webhook).scalar_subquery()
                waiting = (DELIVERY.c.webhook_key == mine, DELIVERY.c.state == DeliveryState.WAITING.value)
                over = {"state": DeliveryState.FAILED.value, "due_at": None, "said": why}
                connection.execute(update(DELIVERY).where(*waiting).values(over))
                put_audit_entry(connection, act)
        return bool(ended)

    def list_unprocessed(self, run: str, limit: int = 1000) -> list[Webhook]:
        """Active webhooks for which a published run is not processed yet."""
        query = _query().where(_IN_FORCE, or_(WEBHOOK.c.run.is_(None), WEBHOOK.c.run < run))
        with self._database.reading() as connection:
            return [_webhook(row) for row in connection.execute(query.order_by(WEBHOOK.c.key).limit(limit))]

    def record_scanned_run(self, webhook: Webhook, run: str, delivery: Delivery | None) -> bool:
        """Store that a run was processed, with its delivery if any; False when another process did it."""
        with self._database.writing() as connection:
            seen = WEBHOOK.c.run.is_(None) if webhook.run is None else WEBHOOK.c.run == webhook.run
            moved = connection.execute(update(WEBHOOK).where(WEBHOOK.c.id == webhook.id, seen).values(run=run)).rowcount
            if moved and delivery is not None:
                values = {name: getattr(delivery, name) for name in _DELIVERY}
                key = select(WEBHOOK.c.key).where(WEBHOOK.c.id == webhook.id).scalar_subquery()
                connection.execute(insert(DELIVERY).values(**values, state=delivery.state.value, webhook_key=key))
        return bool(moved)

    def lease_due(self, now: datetime, limit: int, lease: timedelta) -> list[Delivery]:
        """Deliveries that are due, leased to the caller for `lease`."""
        due = (DELIVERY.c.state == DeliveryState.WAITING.value, DELIVERY.c.due_at <= now)
        query = _deliveries().where(*due).order_by(DELIVERY.c.due_at, DELIVERY.c.key).limit(limit)
        with self._database.writing() as connection:
            taken = []
            for row in connection.execute(query).all():
                still = (DELIVERY.c.key == row.key, DELIVERY.c.due_at == row.due_at)
                if connection.execute(update(DELIVERY).where(*still).values(due_at=now + lease)).rowcount:
                    taken.append(_delivery(row))
        return taken

    def record_delivery(self, delivery: Delivery) -> int:
        """Store the result of an attempt; return how many deliveries of the webhook in a row have failed."""
        result = ("attempts", "due_at", "tried_at", "said")
        values = {name: getattr(delivery, name) for name in result} | {"state": delivery.state.value}
        with self._database.writing() as connection:
            waiting = (DELIVERY.c.id == delivery.id, DELIVERY.c.state == DeliveryState.WAITING.value)
            if connection.execute(update(DELIVERY).where(*waiting).values(values)).rowcount:
                failures = {DeliveryState.DELIVERED: 0, DeliveryState.FAILED: WEBHOOK.c.failures + 1}
                if delivery.state in failures:
                    mine = update(WEBHOOK).where(WEBHOOK.c.id == delivery.webhook)
                    connection.execute(mine.values(failures=failures[delivery.state]))
            found = connection.scalar(select(WEBHOOK.c.failures).where(WEBHOOK.c.id == delivery.webhook))
        return found or 0

    def list_deliveries(self, webhook: str, limit: int = 50) -> list[Delivery]:
        """The deliveries of a webhook, newest first."""
        query = _deliveries().where(WEBHOOK.c.id == webhook).order_by(DELIVERY.c.key.desc()).limit(limit)
        with self._database.reading() as connection:
            return [_delivery(row) for row in connection.execute(query)]


def _query() -> Select[Any]:
    return select(SERVER.c.id.label("server"), WEBHOOK).join(SERVER, SERVER.c.key == WEBHOOK.c.server_key)


def _deliveries() -> Select[Any]:
    return select(DELIVERY, WEBHOOK.c.id.label("webhook"), WEBHOOK.c.url).join(
        WEBHOOK, WEBHOOK.c.key == DELIVERY.c.webhook_key
    )


def _webhook(row: Row[Any]) -> Webhook:
    return Webhook(server=row.server, **{name: getattr(row, name) for name in _WEBHOOK})


def _delivery(row: Row[Any]) -> Delivery:
    known = {name: getattr(row, name) for name in _DELIVERY}
    return Delivery(**known, webhook=row.webhook, url=row.url, state=DeliveryState(row.state))
