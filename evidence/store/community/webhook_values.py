"""Webhooks and their deliveries."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from msgspec import Struct

from evidence.model import ServerId


class DeliveryState(StrEnum):
    """Waiting for the next attempt, or ended."""

    WAITING = "waiting"
    DELIVERED = "delivered"
    FAILED = "failed"


class Webhook(Struct, frozen=True, kw_only=True):
    """A URL to notify when the score of a server changes. `token` is the id of the token that registered it.

    `run` is the newest published run processed for it, `failures` counts failed deliveries in a row, `ended_at` and
    `why` are the time and reason of its end.
    """

    id: str
    server: ServerId
    url: str
    token: str | None
    made_at: datetime
    run: str | None = None
    failures: int = 0
    ended_at: datetime | None = None
    why: str | None = None


class Delivery(Struct, frozen=True, kw_only=True):
    """One message: its body, attempts, next attempt, and the result of the last attempt (`said`)."""

    id: str
    webhook: str
    url: str
    run: str
    body: bytes
    made_at: datetime
    state: DeliveryState = DeliveryState.WAITING
    attempts: int = 0
    due_at: datetime | None = None
    tried_at: datetime | None = None
    said: str = ""
