"""Planning a run: which servers, and of a night whose turn it is, in which order and at which pace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from evidence.model import Run, Server, ServerId, Trigger
from workers import stages
from workers.context import Context
from workers.opt_outs import opt_outs
from workers.rotation import Pace, lay_out
from workers.settings import Settings


def plan(ctx: Context, run: Run, servers: Sequence[Server]) -> None:
    """Fix the servers of a run: all of them due at once, or laid out over hosts when it is a night."""
    ids, at = [server.id for server in servers], ctx.store.now(ctx.clock.wall())
    if run.trigger is not Trigger.NIGHTLY:
        ctx.store.plan(run.id, ids, at)
        ctx.log.info("run_planned", run=run.id, servers=len(ids))
        return

    def seen(queue: Sequence[ServerId]) -> Mapping[ServerId, datetime]:
        return ctx.store.last_turns(run.id, queue)

    # Who has opted out takes no time of a host, and is recorded as such at once, whoever's turn it is.
    opted_out = opt_outs(ctx.settings, ctx.store)
    looked_at = [server for server in servers if opted_out.why(server) is None]
    layout = lay_out(run.id, looked_at, seen, pace_of(ctx.settings))
    starts = {server: at + offset for server, offset in layout.offsets.items()}
    first = {server.id: stages.first(server) for server in servers}
    ctx.store.plan(run.id, ids, at, first=first, starts=starts, carried=layout.carried)
    ctx.log.info("run_planned", run=run.id, servers=len(ids), carried=len(layout.carried))


def pace_of(settings: Settings) -> Pace:
    """What hosts can take in a night with these settings."""
    return Pace(
        gap=settings.host_gap,
        requests=settings.visit_requests,
        window=settings.host_window,
        spread=settings.night_spread,
        at_home=settings.allow_private,
    )
