"""Webhooks about changed scores: a message is stored after a run is published, and sent until it is accepted.

Messages are public and signed, and are delivered at least once: every attempt has the same id.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec.structs import replace

from crawler.http.address_guard import AddressGuard
from crawler.http.connection import Limits
from crawler.http.engine import HttpEngine, Request
from crawler.http.failures import WireFailure
from crawler.http.url import parse_url
from crawler.opt_outs import OptOutList
from evidence.store.community.webhook_values import Delivery, DeliveryState, Webhook
from evidence.store.decisions.audit_trail import AuditEntry
from publish.community.score_notices import make_score_notice
from publish.community.webhooks import derive_secret, sign_message
from workers.community import client_limits
from workers.context import Context
from workers.nightly.closing import SYSTEM_ACTOR
from workers.opt_outs import load_opt_outs

RETRY_PAUSES: Final = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 30, 120, 720))
"""Pauses before each further attempt; after the last one the message has failed."""

REQUEST_LIMITS: Final = Limits(
    connect=5, first_byte=10, between_bytes=5, total=15, wire_bytes=65_536, body_bytes=65_536
)
DELIVERY_LEASE: Final = timedelta(minutes=5)
MAX_DELIVERIES_AT_ONCE: Final = 100
MAX_IN_FLIGHT: Final = 10


async def send_notifications(ctx: Context) -> int:
    """Store messages about newly published runs, send those that are due, and return how many were sent."""
    await asyncio.to_thread(store_notifications, ctx)
    due = await asyncio.to_thread(
        ctx.store.webhooks.lease_due, ctx.clock.wall(), MAX_DELIVERIES_AT_ONCE, DELIVERY_LEASE
    )
    if due:
        await _send_all(ctx, due)
    return len(due)


def store_notifications(ctx: Context) -> int:
    """Store a message for every webhook whose server's score changed in the newest published run; return how many.

    A webhook compares with the run of its last message, so several runs may be covered by one message.
    """
    run = ctx.store.listing.find_newest_run()
    behind = [] if run is None else ctx.store.webhooks.list_unprocessed(run)
    if run is None or not behind:
        return 0
    opt_outs, stored = load_opt_outs(ctx.settings, ctx.store), 0
    for webhook in behind:
        message = _make_delivery(ctx, webhook, run, opt_outs)
        if ctx.store.webhooks.record_scanned_run(webhook, run, message) and message is not None:
            stored += 1
            ctx.log.info("notification_stored", webhook=webhook.id, server=webhook.server, run=run)
    return stored


def _make_delivery(ctx: Context, webhook: Webhook, run: str, opt_outs: OptOutList) -> Delivery | None:
    server = ctx.store.find_server(webhook.server)
    if webhook.run is None or server is None or opt_outs.why(server):
        return None
    body = make_score_notice(ctx.store, ctx.settings.web_url, webhook.server, webhook.run, run)
    if body is None:
        return None
    at, number = ctx.clock.wall(), f"dlv_{secrets.token_hex(8)}"
    return Delivery(id=number, webhook=webhook.id, url=webhook.url, run=run, body=body, made_at=at, due_at=at)


async def _send_all(ctx: Context, due: Sequence[Delivery]) -> None:
    engine = HttpEngine(
        user_agent=ctx.settings.user_agent, guard=AddressGuard(allow_private=ctx.settings.allow_private)
    )
    opt_outs = await asyncio.to_thread(load_opt_outs, ctx.settings, ctx.store)
    room = asyncio.Semaphore(MAX_IN_FLIGHT)

    async def deliver(delivery: Delivery) -> None:
        async with room:
            problem = await _send(ctx, engine, delivery, opt_outs)
        await asyncio.to_thread(_settle, ctx, delivery, problem)

    async with asyncio.TaskGroup() as group:
        for delivery in due:
            group.create_task(deliver(delivery))


async def _send(ctx: Context, engine: HttpEngine, delivery: Delivery, opt_outs: OptOutList) -> str:
    """Attempt to deliver a message once; return why it was not accepted, empty when it was."""
    secret = derive_secret(lambda purpose: client_limits.derive_key(ctx.settings, purpose), delivery.webhook)
    headers = sign_message(secret, delivery.id, ctx.clock.wall(), delivery.body)
    try:
        url = parse_url(delivery.url)
        if why := opt_outs.explain_host(url.origin.host):
            return why.detail
        async with engine.open_session(seconds=REQUEST_LIMITS.total) as visit:
            answer = await visit.fetch(Request("POST", url, headers, delivery.body, REQUEST_LIMITS))
    except WireFailure as failure:
        return failure.detail
    return "" if 200 <= answer.status < 300 else f"HTTP {answer.status}"


def _settle(ctx: Context, delivery: Delivery, problem: str) -> None:
    settled = update_delivery(delivery, problem, ctx.clock.wall())
    failures = ctx.store.webhooks.record_delivery(settled)
    state = settled.state.value
    ctx.log.info("notification_sent", delivery=delivery.id, webhook=delivery.webhook, state=state, problem=problem)
    if settled.state is DeliveryState.FAILED and failures >= ctx.settings.webhook_failures:
        why = f"{failures} messages in a row were not taken, the last one because of: {problem}"
        act = AuditEntry(at=ctx.clock.wall(), who=SYSTEM_ACTOR, what="webhook.end", subject=delivery.webhook, note=why)
        ctx.store.webhooks.end_webhook(delivery.webhook, why, act)


def update_delivery(delivery: Delivery, problem: str, at: datetime) -> Delivery:
    """The message after an attempt: delivered, failed, or due again after a longer pause."""
    tried = replace(delivery, attempts=delivery.attempts + 1, tried_at=at, due_at=None, said=problem or "taken")
    if not problem:
        return replace(tried, state=DeliveryState.DELIVERED)
    if delivery.attempts >= len(RETRY_PAUSES):
        return replace(tried, state=DeliveryState.FAILED)
    return replace(tried, due_at=at + RETRY_PAUSES[delivery.attempts])
