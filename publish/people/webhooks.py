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
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import Any, Final
from urllib.parse import urlsplit

from evidence.model import ServerId
from evidence.store import Store
from evidence.store.audit import Act
from evidence.store.webhook_rows import Webhook
from publish.people.limits import LONGEST_URL, PeopleLimits
from publish.people.tokens import Bearer

PREFIX: Final = "whsec_"
ENDED_BY_OWNER: Final = "ended by whoever registered it"
ENDED_WITH_PROOF: Final = "ended with the proof of control of its server"

Sealed = Callable[[str], bytes]
"""A key of this installation for a purpose, of 32 bytes: what is derived from it need not be stored."""


class WhyNotRegistered(StrEnum):
    """Why there is no webhook."""

    UNFIT_URL = "unfit_url"
    TOO_MANY = "too_many"


@dataclass(frozen=True, slots=True, kw_only=True)
class Registered:
    """A webhook, and its secret, which is shown this once."""

    webhook: Webhook
    secret: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NotRegistered:
    """There is no webhook; the message says what was expected."""

    why: WhyNotRegistered
    message: str


@dataclass(frozen=True, slots=True)
class Forged:
    """Why a message is not to be believed."""

    why: str


def register(
    store: Store, limits: PeopleLimits, sealed: Sealed, now: datetime, *, server: ServerId, url: str, by: Bearer
) -> Registered | NotRegistered:
    """Tell somebody of changes from the next publication on."""
    if why := _unfit(url, plain_http=limits.plain_http):
        return NotRegistered(why=WhyNotRegistered.UNFIT_URL, message=why)
    webhook = Webhook(
        id=f"whk_{secrets.token_hex(8)}",
        server=server,
        url=url,
        token=by.token.id,
        made_at=now,
        run=store.board.newest(),
    )
    act = _act("webhook.register", webhook, now, by, after={"url": url})
    if not store.webhooks.add(webhook, limits.webhooks_of_server, act):
        message = f"at most {limits.webhooks_of_server} webhooks of one server: end one first"
        return NotRegistered(why=WhyNotRegistered.TOO_MANY, message=message)
    return Registered(webhook=webhook, secret=secret_of(sealed, webhook.id))


def end(store: Store, now: datetime, webhook: Webhook, by: Bearer) -> bool:
    """Tell nobody any more; False when it has ended already."""
    act = _act("webhook.end", webhook, now, by, before={"url": webhook.url})
    return store.webhooks.end(webhook.id, ENDED_BY_OWNER, act)


def end_uncontrolled(store: Store, now: datetime, server: ServerId, who: str) -> None:
    """Tell nobody any more of a server that nobody has proven to control any more."""
    if store.claims.controlled(server):
        return
    for webhook in store.webhooks.read(server=server):
        act = Act(at=now, who=who, what="webhook.end", subject=webhook.id, note=ENDED_WITH_PROOF)
        store.webhooks.end(webhook.id, ENDED_WITH_PROOF, act)


def secret_of(sealed: Sealed, webhook: str) -> str:
    """The secret of a webhook, derived from the installation's: a stolen database signs nothing."""
    return PREFIX + base64.b64encode(sealed(f"webhook:{webhook}")).decode("ascii")


def signed(secret: str, message: str, at: datetime, body: bytes) -> list[tuple[str, str]]:
    """The headers of one attempt; `message` is the id of the delivery, `at` the moment of the attempt."""
    stamp = str(int(at.timestamp()))
    return [
        ("content-type", "application/json"),
        ("webhook-id", message),
        ("webhook-timestamp", stamp),
        ("webhook-signature", f"v1,{_signature(secret, message, stamp, body)}"),
    ]


def verified(
    secret: str, headers: dict[str, str], body: bytes, now: datetime, *, tolerance: float = 300
) -> str | Forged:
    """The id of a message that we signed, for a receiver to take once; or why not to believe it.

    What a receiver does, for one that is written in Python; names of `headers` are in lower case.
    """
    message, stamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not (stamp.isascii() and stamp.isdigit() and abs(now.timestamp() - int(stamp)) <= tolerance):
        return Forged("it is old, from the future, or without a time")
    expected = _signature(secret, message, stamp, body)
    given = [one.partition(",")[2] for one in headers.get("webhook-signature", "").split() if one.startswith("v1,")]
    if not any(hmac.compare_digest(expected.encode(), one.encode()) for one in given):
        return Forged("its signature is not ours")
    return message


def _signature(secret: str, message: str, stamp: str, body: bytes) -> str:
    key = base64.b64decode(secret.removeprefix(PREFIX))
    content = f"{message}.{stamp}.".encode() + body
    return base64.b64encode(hmac.digest(key, content, sha256)).decode("ascii")


def _unfit(url: str, *, plain_http: bool) -> str:
    schemes = ("https", "http") if plain_http else ("https",)
    expected = f"expected an address that begins with https:// and has at most {LONGEST_URL} characters"
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return expected
    if len(url) > LONGEST_URL or not url.isascii() or any(not "!" <= letter <= "~" for letter in url):
        return f"{expected}, none of them a space or beyond ASCII"
    if parts.scheme not in schemes or not parts.hostname or port == 0:
        return expected
    if parts.username is not None or parts.password is not None or "{" in url or "}" in url:
        return f"{expected}, without a user name, a password and braces"
    return ""


def _act(what: str, webhook: Webhook, at: datetime, by: Bearer, **changed: Any) -> Act:
    return Act(at=at, who=by.name, token=by.token.id, what=what, subject=webhook.id, note=webhook.server, **changed)
