"""What nobody is at any more although it looks as if: servers whose holders died, or did not renew their leases.

Whatever waits is issued anew by the sweep that follows, whether its task died, was lost by the broker or never sent.
"""

from __future__ import annotations

from workers.context import Context
from workers.leases import is_gone


def reap(ctx: Context, run_id: str) -> None:
    """Free what is held by workers that do not renew their leases, because they died or hang, and say so.

    Processes of this machine that died are known at once; those of others have until their leases end.
    """
    gone = [holder for holder in ctx.store.holders(run_id) if is_gone(holder)]
    for stage, number in ctx.store.reap(run_id, ctx.clock.wall(), gone=gone).items():
        ctx.log.warning("leases_ended", run=run_id, stage=stage.value, servers=number)
