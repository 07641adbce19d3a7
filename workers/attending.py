"""What people asked for, done in this process: re-tests, proofs of control, messages. Otherwise workers do it."""

from __future__ import annotations

from dataclasses import dataclass

from workers import claims, notices, retest_runs
from workers.context import Context


@dataclass(frozen=True, slots=True)
class Attended:
    """How much of each was done."""

    retests: int
    proofs: int
    messages: int


async def attend(ctx: Context) -> Attended:
    """Do everything that is due now, one after the other."""
    done = 0
    for retest in await retest_runs.give_up_late(ctx):
        if await retest_runs.admit(ctx, retest):
            await retest_runs.run_one(ctx, retest.id)
            done += 1
    return Attended(done, await claims.check_due(ctx), await notices.tell(ctx))
