"""What nobody is at any more although it looks as if: servers whose leases were not renewed.

Whatever waits is issued anew by the sweep that follows, whether its task died, was lost by the broker or never sent.
"""

from __future__ import annotations

from workers.context import Context


def reap(ctx: Context, run_id: str) -> None:
    """Free what is held by workers that do not renew their leases, because they died or hang, and say so."""
    for stage, number in ctx.store.reap(run_id, ctx.clock.wall()).items():
        ctx.log.warning("leases_ended", run=run_id, stage=stage.value, servers=number)
