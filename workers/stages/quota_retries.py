"""Retries repositories that GitHub's rate limit refused later in the same run, without blocking other servers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from evidence.kinds import repository
from evidence.model import Absent, Reason, Record, Run, ServerId
from evidence.store import LeaseTokens, Stage
from workers.context import Context
from workers.stages.retries import RetryPolicy

MAX_POSTPONEMENTS: Final = 4
"""Enough for one hour at the default delay of 20 minutes: GitHub's quota resets every hour."""

QUOTA_USED_UP: Final = "GitHub's quota is used up"


def postpone_rate_limited(
    ctx: Context, run: Run, found: Mapping[ServerId, Sequence[Record]], tokens: LeaseTokens
) -> list[ServerId]:
    """Postpone servers that a rate limit refused, unless the run ends before; return the postponed servers.

    Servers whose earlier evidence is still valid have no such record and are not postponed.
    """
    row = ctx.store.find_run(run.id)
    refused = [server for server, records in found.items() if any(_is_refused(record) for record in records)]
    policy = None if row is None else RetryPolicy.for_run(row, ctx.settings)
    if not refused or policy is None or not policy.max_tries:
        return []
    now = ctx.store.read_database_time(ctx.clock.wall())
    if (delay := policy.delay(refused, now)) is None:
        return []
    return ctx.store.postpone_servers(
        run.id,
        Stage.GITHUB,
        refused,
        delay=delay,
        why=QUOTA_USED_UP,
        most=MAX_POSTPONEMENTS,
        now=now,
        tokens=tokens,
    )


def _is_refused(record: Record) -> bool:
    content = record.content
    return record.kind == repository.KIND and isinstance(content, Absent) and content.reason is Reason.RATE_LIMITED
