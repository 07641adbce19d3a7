"""Planning a run: its servers and, for a nightly run, their order and pace per host."""

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
    """Store the servers of a run: all due at once or, for a nightly run, scheduled per host."""
    ids, at = [server.id for server in servers], ctx.store.read_database_time(ctx.clock.wall())
    if run.trigger is not Trigger.NIGHTLY:
        ctx.store.plan_run(run.id, ids, at)
        ctx.log.info("run_planned", run=run.id, servers=len(ids))
        return

    def seen(queue: Sequence[ServerId]) -> Mapping[ServerId, datetime]:
        return ctx.store.read_last_collection_times(run.id, queue)

    # A server that opted out is not contacted, so it needs no place in its host's schedule.
    opt_outs = load_opt_outs(ctx.settings, ctx.store)
    contacted = [server for server in servers if opt_outs.why(server) is None]
    schedule = schedule_servers(run.id, contacted, seen, read_host_pace(ctx.settings))
    starts = {server: at + offset for server, offset in schedule.offsets.items()}
    first = {server.id: routing.first_stage(server) for server in servers}
    ctx.store.plan_run(run.id, ids, at, first=first, starts=starts, carried=schedule.carried)
    ctx.log.info("run_planned", run=run.id, servers=len(ids), carried=len(schedule.carried))


def read_host_pace(settings: Settings) -> HostPace:
    """The load allowed per host by the settings."""
    return HostPace(
        gap=settings.host_gap,
        requests=settings.visit_requests,
        window=settings.host_window,
        spread=settings.night_spread,
        no_gap=settings.allow_private,
    )
