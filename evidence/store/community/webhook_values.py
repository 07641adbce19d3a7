"""What a webhook and one of its deliveries are."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from evidence.model import ServerId


class DeliveryState(StrEnum):
    """Waiting for its next attempt, or over."""

    WAITING = "waiting"
    DELIVERED = "delivered"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """Whom to tell when the score of a server changes. `token` is the id of the token that registered it.

    `run` is the newest published run that was looked through for it, `failures` counts deliveries in a row that were
    given up, `ended_at` and `why` say when and why nothing is sent any more.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One message: its body, how often it was tried, when it is tried next, and what was said the last time."""

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
