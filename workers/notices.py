"""Telling maintainers of changed scores: a message is stored when a run is published, and sent until it is taken.

What is sent is public, signed, and sent at least once: its id is the same in every attempt.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from crawler.opting_out import OptOutList
from crawler.wire.address import parse_url
from crawler.wire.connection import Limits
from crawler.wire.failures import WireFailure
from crawler.wire.guard import Guard
from crawler.wire.http import Engine, Request
from evidence.store.audit import Act
from evidence.store.webhook_rows import Delivery, DeliveryState, Webhook
from publish.people.notices import score_changed
from publish.people.webhooks import secret_of, signed
from workers import people
from workers.closing import OURSELVES
from workers.context import Context
from workers.opt_outs import opt_outs

PAUSES: Final = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 30, 120, 720))
"""Before each further attempt; after the last one a message is given up."""

LIMITS: Final = Limits(connect=5, first_byte=10, between_bytes=5, total=15, wire_bytes=65_536, body_bytes=65_536)
LEASE: Final = timedelta(minutes=5)
AT_ONCE: Final = 100
IN_FLIGHT: Final = 10


async def tell(ctx: Context) -> int:
    """Store messages about runs that were published since, and send what is due; how many were sent."""
    await asyncio.to_thread(look_through, ctx)
    due = await asyncio.to_thread(ctx.store.webhooks.take_due, ctx.clock.wall(), AT_ONCE, LEASE)
    if due:
        await _send_all(ctx, due)
    return len(due)


def look_through(ctx: Context) -> int:
    """Store a message for every webhook whose server's score changed in the newest published run; how many.

    A webhook looks back to the run it was told of last, so runs that were published in quick succession are one
    message.
    """
    run = ctx.store.board.newest()
    behind = [] if run is None else ctx.store.webhooks.behind(run)
    if run is None or not behind:
        return 0
    listed, made = opt_outs(ctx.settings, ctx.store), 0
    for webhook in behind:
        message = _message(ctx, webhook, run, listed)
        if ctx.store.webhooks.looked_through(webhook, run, message) and message is not None:
            made += 1
            ctx.log.info("notice_made", webhook=webhook.id, server=webhook.server, run=run)
    return made


def _message(ctx: Context, webhook: Webhook, run: str, listed: OptOutList) -> Delivery | None:
    server = ctx.store.server(webhook.server)
    if webhook.run is None or server is None or listed.why(server):
        return None
    body = score_changed(ctx.store, ctx.settings.web_url, webhook.server, webhook.run, run)
    if body is None:
        return None
    at, number = ctx.clock.wall(), f"dlv_{secrets.token_hex(8)}"
    return Delivery(id=number, webhook=webhook.id, url=webhook.url, run=run, body=body, made_at=at, due_at=at)


async def _send_all(ctx: Context, due: Sequence[Delivery]) -> None:
    engine = Engine(user_agent=ctx.settings.user_agent, guard=Guard(allow_private=ctx.settings.allow_private))
    listed = await asyncio.to_thread(opt_outs, ctx.settings, ctx.store)
    room = asyncio.Semaphore(IN_FLIGHT)

    async def one(delivery: Delivery) -> None:
        async with room:
            problem = await _send(ctx, engine, delivery, listed)
        await asyncio.to_thread(_settle, ctx, delivery, problem)

    async with asyncio.TaskGroup() as group:
        for delivery in due:
            group.create_task(one(delivery))


async def _send(ctx: Context, engine: Engine, delivery: Delivery, listed: OptOutList) -> str:
    """One attempt; why the message was not taken, empty when it was."""
    secret = secret_of(lambda purpose: people.sealed(ctx.settings, purpose), delivery.webhook)
    headers = signed(secret, delivery.id, ctx.clock.wall(), delivery.body)
    try:
        url = parse_url(delivery.url)
        if why := listed.why_host(url.origin.host):
            return why.detail
        async with engine.visit(seconds=LIMITS.total) as visit:
            answer = await visit.fetch(Request("POST", url, headers, delivery.body, LIMITS))
    except WireFailure as failure:
        return failure.detail
    return "" if 200 <= answer.status < 300 else f"HTTP {answer.status}"


def _settle(ctx: Context, delivery: Delivery, problem: str) -> None:
    settled = after(delivery, problem, ctx.clock.wall())
    failures = ctx.store.webhooks.settle(settled)
    ctx.log.info(
        "notice_tried", delivery=delivery.id, webhook=delivery.webhook, state=settled.state.value, said=problem
    )
    if settled.state is DeliveryState.FAILED and failures >= ctx.settings.webhook_failures:
        why = f"{failures} messages in a row were not taken, the last one because of: {problem}"
        act = Act(at=ctx.clock.wall(), who=OURSELVES, what="webhook.end", subject=delivery.webhook, note=why)
        ctx.store.webhooks.end(delivery.webhook, why, act)


def after(delivery: Delivery, problem: str, at: datetime) -> Delivery:
    """The message after an attempt: taken, given up, or due again after a longer pause."""
    tried = replace(delivery, attempts=delivery.attempts + 1, tried_at=at, due_at=None, said=problem or "taken")
    if not problem:
        return replace(tried, state=DeliveryState.DELIVERED)
    if delivery.attempts >= len(PAUSES):
        return replace(tried, state=DeliveryState.FAILED)
    return replace(tried, due_at=at + PAUSES[delivery.attempts])
