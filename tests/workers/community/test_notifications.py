"""A changed score is sent once a publication, signed, with retries until it is accepted, and without private data."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace

from evidence.kinds import listing
from evidence.model import Dossier, Server
from evidence.store import OptOut, OptOutScope
from evidence.store.community.webhook_values import Delivery, DeliveryState, Webhook
from evidence.store.decisions.audit_trail import AuditEntry
from publish.community.webhooks import ForgedMessage, derive_secret, verify_message
from tests.publish import samples
from tests.publish.api.api_stores import EARLIER, RUN
from tests.publish.filled_stores import fill
from tests.servers.grounds import Website, website
from tests.stepping_clock import SteppingClock
from tests.workers.world import NIGHT, World, context
from workers.community import client_limits, notifications
from workers.context import Context


@asynccontextmanager
async def two_nights(home: Path, **changes: object) -> AsyncIterator[Context]:
    """Two published nights of the same servers, of which some said something else in the first."""
    async with context(home, World([]), clock=None, **({"allow_private": True} | changes)) as ctx:
        ctx.clock = SteppingClock(NIGHT)
        now = samples.dossiers(9)
        fill(ctx.store, [_saying(one, other) for one, other in zip(now, now[1:] + now[:1], strict=True)], EARLIER)
        fill(ctx.store, now)
        ctx.store.listing.write_listing(RUN.id, [], lambda: b"{}")
        yield ctx


def _saying(one: Dossier, other: Dossier) -> Dossier:
    """A server that says what another one says."""
    said = replace(other.records[listing.KIND], server=one.server.id)
    return replace(one, as_of=EARLIER.as_of, records={**one.records, listing.KIND: said})


def moved(ctx: Context) -> Server:
    """A server whose score differs between the two nights."""
    before, after = (
        {(card.server, card.rubric): card.score for card in ctx.store.read_scorecards(run.id)} for run in (EARLIER, RUN)
    )
    server = next(one for one, rubric in after if rubric == "lint" and before[one, rubric] != after[one, rubric])
    found = ctx.store.find_server(server)
    assert found is not None
    return found


def hook(ctx: Context, url: str, server: Server | None = None, run: str = EARLIER.id) -> Webhook:
    known = server or moved(ctx)
    made = Webhook(id="whk_0123456789abcdef", server=known.id, url=url, token="t", made_at=NIGHT, run=run)
    assert ctx.store.webhooks.put_webhook(
        made, 9, AuditEntry(at=NIGHT, who="its owner", what="webhook.register", subject=made.id)
    )
    return made


def secret(ctx: Context, webhook: Webhook) -> str:
    return derive_secret(lambda purpose: client_limits.derive_key(ctx.settings, purpose), webhook.id)


def sent(ctx: Context, webhook: Webhook) -> list[Delivery]:
    return ctx.store.webhooks.list_deliveries(webhook.id)


def test_a_changed_score_is_sent_once_and_signed(tmp_path: Path) -> None:
    async def main(site: Website) -> None:
        async with two_nights(tmp_path) as ctx:
            webhook = hook(ctx, site.url + "/hook")
            assert await notifications.send_notifications(ctx) == 1
            assert await notifications.send_notifications(ctx) == 0
            ((headers, body),) = site.received
            (log,) = sent(ctx, webhook)
            assert (log.state, log.said, log.attempts) == (DeliveryState.DELIVERED, "taken", 1)
            key, now = secret(ctx, webhook), ctx.clock.wall()
            assert verify_message(key, headers, body, now) == log.id
            message = json.loads(body)
            assert message["type"] == "score.changed"
            assert (message["data"]["run"], message["data"]["before_run"]) == (RUN.id, EARLIER.id)
            assert message["data"]["server"]["url"].endswith(f"/servers/{webhook.server}")
            assert {one["rubric"] for one in message["data"]["scores"]} <= {"lint", "adaptive"}
            for forged in (
                verify_message(key, headers, body + b" ", now),
                verify_message(key, headers | {"webhook-id": "dlv_other"}, body, now),
                verify_message(key, headers | {"webhook-timestamp": str(int(now.timestamp()) + 60)}, body, now),
                verify_message(key, headers | {"webhook-signature": "v1,AAAA"}, body, now),
                verify_message(key, {}, body, now),
                verify_message(key, headers, body, now + timedelta(minutes=6)),
                verify_message(secret(ctx, replace(webhook, id="whk_other")), headers, body, now),
            ):
                assert isinstance(forged, ForgedMessage)

    with website() as site:
        asyncio.run(main(site))


def test_no_message_is_sent_without_a_change_or_for_an_opted_out_server(tmp_path: Path) -> None:
    async def main(site: Website) -> None:
        async with two_nights(tmp_path) as ctx:
            out = moved(ctx)
            ctx.store.opt_outs.add_opt_out(
                OptOut(scope=OptOutScope.SERVER, value=out.id, at=NIGHT, who="op", note="asked")
            )
            hook(ctx, site.url, out)
            assert await notifications.send_notifications(ctx) == 0
            same = replace(hook_of(ctx), id="whk_same", run=RUN.id)
            act = AuditEntry(at=NIGHT, who="its owner", what="webhook.register", subject=same.id)
            assert ctx.store.webhooks.put_webhook(same, 9, act)
            assert await notifications.send_notifications(ctx) == 0
            assert site.received == []

    with website() as site:
        asyncio.run(main(site))


def hook_of(ctx: Context) -> Webhook:
    (webhook,) = ctx.store.webhooks.list_webhooks()
    return webhook


def test_what_is_not_taken_is_tried_again_with_the_same_id_and_given_up_in_the_end(tmp_path: Path) -> None:
    async def main(site: Website) -> None:
        async with two_nights(tmp_path, webhook_failures=1) as ctx:
            clock = ctx.clock
            assert isinstance(clock, SteppingClock)
            webhook = hook(ctx, site.url)
            pauses = []
            for _ in range(6):
                assert await notifications.send_notifications(ctx) == 1
                (log,) = sent(ctx, webhook)
                if log.due_at is not None:
                    pauses.append((log.due_at - clock.wall()) / timedelta(minutes=1))
                    clock.step(log.due_at - clock.wall())
            assert pauses == [1, 5, 30, 120, 720]
            assert (log.state, log.attempts, log.said) == (DeliveryState.FAILED, 6, "HTTP 500")
            assert len({headers["webhook-id"] for headers, _ in site.received}) == 1
            assert len({headers["webhook-timestamp"] for headers, _ in site.received}) == 6
            ended = ctx.store.webhooks.find_webhook(webhook.id)
            assert ended is not None
            assert ended.ended_at is not None
            assert ended.why == "1 messages in a row were not taken, the last one because of: HTTP 500"
            (act, _) = ctx.store.audit.read_entries(subject=webhook.id)
            assert (act.what, act.who) == ("webhook.end", "hallmark")
            clock.step(timedelta(days=2))
            assert await notifications.send_notifications(ctx) == 0

    with website() as site:
        site.statuses = [500]
        asyncio.run(main(site))


@pytest.mark.parametrize("status", [200, 204, 302, 410, 503])
def test_only_an_answer_of_success_counts_and_redirects_are_not_followed(tmp_path: Path, status: int) -> None:
    async def main(site: Website, other: Website) -> None:
        site.statuses, site.headers = [status], {"Location": other.url}
        async with two_nights(tmp_path) as ctx:
            webhook = hook(ctx, site.url)
            await notifications.send_notifications(ctx)
            (log,) = sent(ctx, webhook)
            assert (log.state is DeliveryState.DELIVERED) == (status < 300)
            assert not other.received
            assert not other.asked

    with website() as site, website() as other:
        asyncio.run(main(site, other))


def test_a_private_address_gets_nothing(tmp_path: Path) -> None:
    async def main(site: Website) -> None:
        async with two_nights(tmp_path, allow_private=False) as ctx:
            webhook = hook(ctx, site.url)
            await notifications.send_notifications(ctx)
            (log,) = sent(ctx, webhook)
            assert (log.state, log.said) == (DeliveryState.WAITING, "the name leads to a private address")
            assert site.received == []

    with website() as site:
        asyncio.run(main(site))
