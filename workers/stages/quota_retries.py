"""Retries repositories for which GitHub's quota did not suffice, later in the same run, without blocking others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from evidence.kinds import repository
from evidence.model import Absent, Reason, Record, Run, ServerId
from evidence.store import Stage
from workers.context import Context
from workers.stages.retries import RetryPolicy

MAX_POSTPONEMENTS: Final = 4
"""How often: the quota of an hour comes back within the hour, and the default pause is a third of one."""

QUOTA_USED_UP: Final = "GitHub's quota is used up"


def postpone_rate_limited(ctx: Context, run: Run, found: Mapping[ServerId, Sequence[Record]]) -> list[ServerId]:
    """Put those servers back that were refused by a rate limit, unless the night ends before; those put back.

    Where an earlier night's evidence stands for them there is nothing to wait for, and they are not among these.
    """
    row = ctx.store.find_run(run.id)
    spent = [server for server, records in found.items() if any(_is_refused(record) for record in records)]
    rules = None if row is None else RetryPolicy.of(row, ctx.settings)
    if not spent or rules is None or not rules.most:
        return []
    now = ctx.store.read_database_time(ctx.clock.wall())
    if (delay := rules.delay(spent, now)) is None:
        return []
    return ctx.store.postpone_servers(
        run.id, Stage.GITHUB, spent, delay=delay, why=QUOTA_USED_UP, most=MAX_POSTPONEMENTS, now=now
    )


def _is_refused(record: Record) -> bool:
    content = record.content
    return record.kind == repository.KIND and isinstance(content, Absent) and content.reason is Reason.RATE_LIMITED
