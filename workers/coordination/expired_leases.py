"""Releases leases whose holders died or did not renew them; the next sweep issues tasks for the released servers."""

from __future__ import annotations

from workers.context import Context
from workers.coordination.leases import has_holder_ended


def release_expired_leases(ctx: Context, run_id: str) -> None:
    """Release and log leases of workers that died or hang.

    The end of a process on this machine is known at once; on other machines the leases have to expire.
    """
    gone = [holder for holder in ctx.store.list_lease_holders(run_id) if has_holder_ended(holder)]
    for stage, number in ctx.store.release_expired_leases(run_id, ctx.clock.wall(), gone=gone).items():
        ctx.log.warning("leases_expired", run=run_id, stage=stage.value, servers=number)
