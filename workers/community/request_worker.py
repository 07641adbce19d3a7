"""Processes requests of visitors in this process, where there are no workers: re-tests, proofs of control, webhooks."""

from __future__ import annotations

from msgspec import Struct

from workers.community import claims, notifications
from workers.context import Context
from workers.retests import execution


class ProcessedRequests(Struct, frozen=True):
    """How many of each kind were processed."""

    retests: int
    proofs: int
    messages: int


async def process_requests(ctx: Context) -> ProcessedRequests:
    """Process everything that is due now, one after the other."""
    done = 0
    for retest in await execution.fail_late_retests(ctx):
        if await execution.admit_retest(ctx, retest):
            await execution.run_retest(ctx, retest.id)
            done += 1
    return ProcessedRequests(done, await claims.check_due_claims(ctx), await notifications.send_notifications(ctx))
