"""Releases leases whose holders died or did not renew them.

Whatever waits is issued anew by the sweep that follows, whether its task died, was lost by the broker or never sent.
"""

from __future__ import annotations

from workers.context import Context
from workers.coordination.leases import has_holder_ended


def release_expired_leases(ctx: Context, run_id: str) -> None:
    """Free what is held by workers that do not renew their leases, because they died or hang, and say so.

    Processes of this machine that died are known at once; those of others have until their leases end.
    """
    gone = [holder for holder in ctx.store.list_lease_holders(run_id) if has_holder_ended(holder)]
    for stage, number in ctx.store.release_expired_leases(run_id, ctx.clock.wall(), gone=gone).items():
        ctx.log.warning("leases_ended", run=run_id, stage=stage.value, servers=number)
