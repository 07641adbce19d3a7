"""Webhooks: registering one, the message of a changed score, and its signature (Standard Webhooks 1.0, HMAC-SHA256).

    webhook-id: dlv_...                       the same in every attempt: take a message once
    webhook-timestamp: 1795000000             seconds since 1970, of this attempt; refuse one that is minutes old
    webhook-signature: v1,BASE64              of `ID.TIMESTAMP.BODY`, with the secret that was shown once

https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
"""

from __future__ import annotations

import base64
import hmac
import secrets
from collections.abc import Callable
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec import Struct

from evidence.model import ServerId
from evidence.store import Store
from evidence.store.community.webhook_values import Webhook
from evidence.store.decisions.audit_trail import AuditEntry
from publish.community.limits import MAX_URL, CommunityLimits
from publish.community.tokens import TokenBearer

SECRET_PREFIX: Final = "whsec_"  # noqa: S105 - the public prefix of a secret
ENDED_BY_OWNER: Final = "ended by its owner"
ENDED_WITH_PROOF: Final = "ended with the proof of control of its server"

DeriveKey = Callable[[str], bytes]
"""A key of this installation for a purpose, of 32 bytes: what is derived from it need not be stored."""


class WebhookRefusal(StrEnum):
    """Why a webhook was refused."""

    UNFIT_URL = "unfit_url"
    TOO_MANY = "too_many"


class RegisteredWebhook(Struct, frozen=True, kw_only=True):
    """A webhook, and its secret, which is shown this once."""

    webhook: Webhook
    secret: str


class WebhookRefused(Struct, frozen=True, kw_only=True):
    """The webhook was refused; the message says what was expected."""

    why: WebhookRefusal
    message: str


class ForgedMessage(Struct, frozen=True):
    """Why a message is not authentic."""

    why: str


def register_webhook(
    store: Store,
    limits: CommunityLimits,
    sealed: DeriveKey,
    now: datetime,
    *,
    server: ServerId,
    url: str,
    by: TokenBearer,
) -> RegisteredWebhook | WebhookRefused:
    """Register a webhook for changes from the next publication on."""
    if why := _unfit(url, plain_http=limits.plain_http):
        return WebhookRefused(why=WebhookRefusal.UNFIT_URL, message=why)
    webhook = Webhook(
        id=f"whk_{secrets.token_hex(8)}",
        server=server,
        url=url,
        token=by.token.id,
        made_at=now,
        run=store.listing.find_newest_run(),
    )
    act = _act("webhook.register", webhook, now, by, after={"url": url})
    if not store.webhooks.put_webhook(webhook, limits.webhooks_of_server, act):
        message = f"at most {limits.webhooks_of_server} webhooks of one server: end one first"
        return WebhookRefused(why=WebhookRefusal.TOO_MANY, message=message)
    return RegisteredWebhook(webhook=webhook, secret=derive_secret(sealed, webhook.id))


def end_webhook(store: Store, now: datetime, webhook: Webhook, by: TokenBearer) -> bool:
    """End a webhook; False if it has ended already."""
    act = _act("webhook.end", webhook, now, by, before={"url": webhook.url})
    return store.webhooks.end_webhook(webhook.id, ENDED_BY_OWNER, act)


def end_uncontrolled_webhooks(store: Store, now: datetime, server: ServerId, who: str) -> None:
    """End the webhooks of a server whose control is no longer proven."""
    if store.claims.is_controlled(server):
        return
    for webhook in store.webhooks.list_webhooks(server=server):
        act = AuditEntry(at=now, who=who, what="webhook.end", subject=webhook.id, note=ENDED_WITH_PROOF)
        store.webhooks.end_webhook(webhook.id, ENDED_WITH_PROOF, act)


def derive_secret(sealed: DeriveKey, webhook: str) -> str:
    """The secret of a webhook, derived from the installation's: a stolen database signs nothing."""
    return SECRET_PREFIX + base64.b64encode(sealed(f"webhook:{webhook}")).decode("ascii")


def sign_message(secret: str, message: str, at: datetime, body: bytes) -> list[tuple[str, str]]:
    """The headers of one attempt; `message` is the id of the delivery, `at` the moment of the attempt."""
    stamp = str(int(at.timestamp()))
    return [
        ("content-type", "application/json"),
        ("webhook-id", message),
        ("webhook-timestamp", stamp),
        ("webhook-signature", f"v1,{_signature(secret, message, stamp, body)}"),
    ]


def verify_message(
    secret: str, headers: dict[str, str], body: bytes, now: datetime, *, tolerance: float = 300
) -> str | ForgedMessage:
    """The id of an authentic message, or why it is not authentic.

    Reference code for receivers in Python; names of `headers` are in lower case.
    """
    message, stamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not (stamp.isascii() and stamp.isdigit() and abs(now.timestamp() - int(stamp)) <= tolerance):
        return ForgedMessage("it is old, from the future, or without a time")
    expected = _signature(secret, message, stamp, body)
    given = [one.partition(",")[2] for one in headers.get("webhook-signature", "").split() if one.startswith("v1,")]
    if not any(hmac.compare_digest(expected.encode(), one.encode()) for one in given):
        return ForgedMessage("its signature is not ours")
    return message


def _signature(secret: str, message: str, stamp: str, body: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    content = f"{message}.{stamp}.".encode() + body
    return base64.b64encode(hmac.digest(key, content, sha256)).decode("ascii")


def _unfit(url: str, *, plain_http: bool) -> str:
    schemes = ("https", "http") if plain_http else ("https",)
    expected = f"expected an address that begins with https:// and has at most {MAX_URL} characters"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return expected
    if len(url) > MAX_URL or not url.isascii() or any(not "!" <= letter <= "~" for letter in url):
        return f"{expected}, none of them a space or beyond ASCII"
    if parts.scheme not in schemes or not parts.hostname or port == 0:
        return expected
    if parts.username is not None or parts.password is not None or "{" in url or "}" in url:
        return f"{expected}, without a user name, a password and braces"
    return ""


def _act(what: str, webhook: Webhook, at: datetime, by: TokenBearer, **changed: Any) -> AuditEntry:
    return AuditEntry(
        at=at, who=by.name, token=by.token.id, what=what, subject=webhook.id, note=webhook.server, **changed
    )
