"""Planning a run: which servers, and of a night whose turn it is, in which order and at which pace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from evidence.model import Run, Server, ServerId, Trigger
from workers.context import Context
from workers.opt_outs import load_opt_outs
from workers.settings.environment import Settings
from workers.stages import routing
from workers.stages.host_schedule import HostPace, schedule_servers


def plan_servers(ctx: Context, run: Run, servers: Sequence[Server]) -> None:
    """Fix the servers of a run: all of them due at once, or laid out over hosts when it is a night."""
    ids, at = [server.id for server in servers], ctx.store.read_database_time(ctx.clock.wall())
    if run.trigger is not Trigger.NIGHTLY:
        ctx.store.plan_run(run.id, ids, at)
        ctx.log.info("run_planned", run=run.id, servers=len(ids))
        return

    def seen(queue: Sequence[ServerId]) -> Mapping[ServerId, datetime]:
        return ctx.store.read_last_collection_times(run.id, queue)

    # A server that opted out needs no time of its host and is recorded at once.
    opted_out = load_opt_outs(ctx.settings, ctx.store)
    looked_at = [server for server in servers if opted_out.why(server) is None]
    layout = schedule_servers(run.id, looked_at, seen, read_host_pace(ctx.settings))
    starts = {server: at + offset for server, offset in layout.offsets.items()}
    first = {server.id: routing.first_stage(server) for server in servers}
    ctx.store.plan_run(run.id, ids, at, first=first, starts=starts, carried=layout.carried)
    ctx.log.info("run_planned", run=run.id, servers=len(ids), carried=len(layout.carried))


def read_host_pace(settings: Settings) -> HostPace:
    """What hosts can take in a night with these settings."""
    return HostPace(
        gap=settings.host_gap,
        requests=settings.visit_requests,
        window=settings.host_window,
        spread=settings.night_spread,
        at_home=settings.allow_private,
    )
