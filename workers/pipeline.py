"""The steps of a run, each over a batch of server ids: start_run, discover, collect, score, publish.

Every step may be called again at any time, by any process: it first drops what is already done.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence

from msgspec.structs import replace

from crawler.collectors.derivers import build_derivers
from evidence.kinds import listing
from evidence.model import Absent, Reason, Record, Run, Server, ServerId, Trigger
from evidence.store import IllegalRunChange, LeaseTokens, RunEvent, RunProgress, RunState, Stage
from publish.publication.part_writer import PART_SIZE
from workers import retention, stall_watch
from workers.concurrency import Halt, process_concurrently, split_turns, without_key
from workers.context import Context
from workers.coordination.circuit_breaker import CircuitBreaker, NoCircuitBreaker
from workers.coordination.leases import Leases, log_refused
from workers.log import bind_log_context
from workers.observability.tracing import open_span
from workers.opt_outs import load_opt_outs
from workers.progress import NoDisplay, StageCounter
from workers.publication import listing_index, run_parts
from workers.runs import identifiers, pins
from workers.runs.options import RunOptions
from workers.stages import planning, quota_retries, retries, routing, server_collection
from workers.stages.approved_listings import read_approvals
from workers.stages.collect_inputs import CollectInput, CollectInputReader
from workers.stages.discovery import RegistryProgress, read_registry_progress, walk_registries
from workers.stages.routing import StageCollectors
from workers.stages.score_chunks import score_chunk
from workers.stages.server_collection import CollectedServer

PUBLISHABLE_SHARE = 0.99
SERVERS_PER_CHUNK = 100

PullServers = Callable[[], Awaitable[Sequence[ServerId]]]

_PROBE_STAGES = routing.FIRST_STAGES | {Stage.COLLECT}


class NotPublishable(Exception):
    """Too few servers of the run are scored; the message says how many."""


def start_run(ctx: Context, trigger: Trigger, options: RunOptions, *, run_id: str | None = None) -> Run:
    """Create a run pinned to the versions of this process, or return the run that already has this id."""
    run = Run(
        id=run_id or identifiers.make_run_id(ctx.clock.wall()), trigger=trigger, as_of=ctx.clock.now(), pins=ctx.pins
    )
    ctx.store.add_run(run, options=options.to_json())
    stored = ctx.store.find_run(run.id)
    return stored.run if stored else run


async def discover(
    ctx: Context, run: Run, *, halt: Halt | None = None, counter: StageCounter | None = None
) -> list[RegistryProgress]:
    """Walk the registries of the run's options and plan the chosen servers; do nothing when the run is planned.

    The failure of a registry is recorded in its walk and does not stop the others; its servers known from earlier walks
    are planned. `halt` stops between two pages or two parts of the plan. The next call continues, also after a kill,
    and no registry is walked again once a part is planned. Nothing is planned when no server was found.
    """
    pins.check_pins(run, ctx.pins)
    stored = await asyncio.to_thread(ctx.store.find_run, run.id)
    if stored is None:
        return []
    options = RunOptions.from_json(stored.options)
    if stored.state is not RunState.DISCOVERING:
        return await read_registry_progress(ctx, run, options.registries)
    halt = halt or Halt()
    if stored.plan_position is None:
        walked = await walk_registries(ctx, run, options.registries, halt, counter or _silent_counter(ctx))
    else:
        walked = await read_registry_progress(ctx, run, options.registries)
    planner = planning.Planner(ctx, run, options, [walk.registry for walk in walked])
    while not halt.is_set() and await asyncio.to_thread(planner.plan_part):
        pass
    return walked


async def collect(
    ctx: Context,
    run: Run,
    servers: Sequence[ServerId],
    *,
    halt: Halt | None = None,
    counter: StageCounter | None = None,
    leases: Leases | None = None,
) -> None:
    """Record evidence of those of the servers that have none in this run yet, many at the same time."""
    waiting = await asyncio.to_thread(ctx.store.list_pending_servers, run.id, Stage.COLLECT, servers)
    await collect_pulled(ctx, run, pull_once(waiting), halt=halt, counter=counter, leases=leases)


def pull_once(servers: Sequence[ServerId]) -> PullServers:
    """A function that returns these servers in chunks, then nothing."""
    chunks = iter([servers[start : start + SERVERS_PER_CHUNK] for start in range(0, len(servers), SERVERS_PER_CHUNK)])

    async def pull() -> Sequence[ServerId]:
        return next(chunks, ())

    return pull


async def collect_pulled(
    ctx: Context,
    run: Run,
    pull: PullServers,
    *,
    stage: Stage = Stage.COLLECT,
    halt: Halt | None = None,
    counter: StageCounter | None = None,
    breaker: CircuitBreaker | None = None,
    leases: Leases | None = None,
) -> None:
    """Record evidence of the servers that `pull` returns until it returns none, many servers at the same time.

    `stage` is the part of collecting to do, by default all of it. `breaker` postpones servers whose host does not
    answer. Without `leases` this process is the only one that collects these servers. A server is visited again when
    this process stood still during the visit. When that happens MAX_VISITS times, a leased server is postponed, at most
    MAX_POSTPONEMENTS times, and then its absence is our failure.
    """
    pins.check_pins(run, ctx.pins)
    counter, breaker = counter or _silent_counter(ctx), breaker or NoCircuitBreaker()
    sources, inputs = await open_sources(ctx), CollectInputReader(ctx, run, stage)
    opt_outs = await asyncio.to_thread(load_opt_outs, ctx.settings, ctx.store)

    # Private addresses have no request gap, so servers that share one need not wait for each other.
    shares_host = not ctx.settings.allow_private and stage in _PROBE_STAGES
    key_of = routing.find_probed_host if shares_host else without_key

    async def servers() -> Sequence[Server]:
        if not (ids := await pull()):
            return ()
        found = await asyncio.to_thread(ctx.store.find_servers, ids)
        soon, later = split_turns(found, key_of)
        await inputs.prefetch(soon, later)
        return found

    async def visit(server: Server, known: CollectInput) -> CollectedServer | None:
        """None when a lease was lost or the server was postponed."""
        for number in range(1, stall_watch.MAX_VISITS + 1):
            token = None if leases is None else leases.find_token(server.id)
            if leases is not None and token is None:
                return None
            if (why := opt_outs.why(server)) is not None:
                unasked = server_collection.record_not_contacted(ctx, sources, known, why)
                return replace(unasked, token=token)
            if await breaker.postpone_server(run, stage, server, token):
                return None
            try:
                async with watch.visit(in_turn=number == stall_watch.MAX_VISITS):
                    collected = await server_collection.collect_server(ctx, sources, stage, known)
            except stall_watch.StoodStill:
                await watch.recovered()
                continue
            await breaker.record_result(server, collected.records)
            return replace(collected, token=token)
        if token is not None and await _postpone_unvisited(ctx, run, stage, server, token):
            return None
        ours = Absent(Reason.COLLECTOR_ERROR, stall_watch.STOOD_STILL)
        return replace(server_collection.record_stage_absent(ctx, sources, stage, known, ours), token=token)

    async def collect_one(server: Server) -> CollectedServer | None:
        with bind_log_context(server=server.id), open_span("visit", server=server.id, stage=stage.value) as span:
            collected = await visit(server, await inputs.read_input(server))
            outcome = server_collection.name_outcome(collected.records) if collected is not None else "postponed"
            span.record_outcome(outcome)
            return collected

    async def write(finished: Sequence[CollectedServer | None]) -> None:
        collected = await _keep_final(ctx, run, stage, [one for one in finished if one is not None])
        lost = await store_collected(ctx, run, stage, collected)
        stored = [one for one in collected if one.server not in lost]
        counter.add(len(stored), absent=_absent_listings([record for one in stored for record in one.records]))

    recover = stall_watch.recover_nothing if leases is None else leases.recover
    async with stall_watch.StallWatch(ctx.clock, recover) as watch:
        await process_concurrently(
            servers,
            collect_one,
            write,
            lanes=routing.max_concurrent_servers(ctx.settings, stage),
            group=ctx.settings.write_batch,
            halt=halt or Halt(),
            grace=ctx.settings.stop_grace,
            key_of=key_of,
        )


async def _postpone_unvisited(ctx: Context, run: Run, stage: Stage, server: Server, token: int) -> bool:
    """Postpone a server during whose visits this process stood still, for another worker or a better time."""
    back = await asyncio.to_thread(
        ctx.store.postpone_servers,
        run.id,
        stage,
        [server.id],
        delay=ctx.settings.lease_ttl,
        why=stall_watch.STOOD_STILL,
        most=stall_watch.MAX_POSTPONEMENTS,
        now=ctx.clock.wall(),
        tokens={server.id: token},
    )
    return bool(back)


async def store_collected(
    ctx: Context, run: Run, stage: Stage, collected: Sequence[CollectedServer]
) -> frozenset[ServerId]:
    """Store records and mark their servers as done in a stage, in one transaction.

    Nothing is stored of servers whose lease was lost; returns these servers.
    """
    lost = await asyncio.to_thread(
        ctx.store.put_records,
        run.id,
        [record for one in collected for record in one.records],
        done=[one.server for one in collected],
        at=ctx.clock.wall(),
        stage=stage,
        onward={one.server: one.next_stage for one in collected if one.next_stage is not None},
        tokens=_tokens(collected),
    )
    log_refused(ctx, run, stage, lost)
    return lost


def _tokens(collected: Sequence[CollectedServer]) -> LeaseTokens:
    return {one.server: one.token for one in collected if one.token is not None}


async def score(
    ctx: Context,
    run: Run,
    servers: Sequence[ServerId],
    *,
    halt: Halt | None = None,
    counter: StageCounter | None = None,
    leases: Leases | None = None,
) -> None:
    """Write the scorecards of those of the servers that have evidence and no scorecards in this run.

    A server for which a rule or rubric raises gets no scorecard at all and is recorded as failed; the others go on.
    Without `leases` the scorecards of another process that came first stay.
    """
    pins.check_pins(run, ctx.pins)
    counter = counter or _silent_counter(ctx)
    waiting = await asyncio.to_thread(ctx.store.list_pending_servers, run.id, Stage.SCORE, servers)
    uncollected = set(await asyncio.to_thread(ctx.store.list_pending_servers, run.id, Stage.COLLECT, waiting))
    ready = [server for server in waiting if server not in uncollected]
    for start in range(0, len(ready), SERVERS_PER_CHUNK):
        if halt is not None and halt.is_set():
            return
        with open_span("score", run=run.id, stage=Stage.SCORE.value) as span:
            failed = await score_chunk(ctx, run, ready[start : start + SERVERS_PER_CHUNK], counter, leases)
            span.record_outcome("failed" if failed else "scored")


async def begin_publication(ctx: Context, run: Run, *, late: bool = False, by: RunEvent | None = None) -> bool:
    """Divide a run into the parts in which it is published; False if it was published or stopped before.

    From then on nothing of the run changes. Raise NotPublishable when less than 99 % of the scheduled servers are
    scored, unless the run is `late` or an operator publishes it (`by`): then it is published as it is, and the manifest
    has the number of planned servers. Raise IllegalRunChange when an operator publishes a stopped run.
    """
    pins.check_pins(run, ctx.pins)
    stored = await asyncio.to_thread(ctx.store.find_run, run.id)
    if by is None and stored is not None and not stored.state.is_working:
        return False
    progress = await asyncio.to_thread(ctx.store.read_progress, run.id)
    scored = progress.done.get(Stage.SCORE, 0)
    if scored == 0 or not (late or by or is_publishable(progress)):
        raise NotPublishable(
            f"{progress.scheduled_scored_count} of {progress.scheduled_count} servers are scored, at least 99 % "
            f"expected before run {run.id} is published. `last_error` of the missing ones says why."
        )
    try:
        await asyncio.to_thread(ctx.store.publication.begin, run.id, PART_SIZE, ctx.clock.wall())
    except IllegalRunChange:  # it was published or stopped meanwhile
        if by is not None:
            raise
        return False
    return True


async def publish(
    ctx: Context, run: Run, *, late: bool = False, by: RunEvent | None = None, halt: Halt | None = None
) -> bool:
    """Write the run's listing index and manifest and mark it published; False if it was published or stopped.

    Begins the publication, or continues one. Other workers may write parts of it meanwhile. False also when `halt` was
    set before it is finished. Raises what `begin_publication` raises.
    """
    with open_span("publish", run=run.id) as span:
        is_published = await _publish_parts(ctx, run, late=late, by=by, halt=halt or Halt())
        span.record_outcome("published" if is_published else "unfinished")
    return is_published


async def _publish_parts(ctx: Context, run: Run, *, late: bool, by: RunEvent | None, halt: Halt) -> bool:
    if not await begin_publication(ctx, run, late=late, by=by):
        return False
    if not await run_parts.write_all_parts(ctx, run, halt):
        return False
    if not await asyncio.to_thread(run_parts.publish_parts, ctx, run, by):
        return False
    await asyncio.to_thread(listing_index.hide_opted_out, ctx.settings, ctx.store)
    ctx.log.info("run_published", run=run.id)
    await asyncio.to_thread(retention.drop_done_items, ctx.store, run.id)
    return True


def is_publishable(progress: RunProgress) -> bool:
    """True when at least 99 % of the scheduled servers, and at least one, are scored."""
    return 0 < progress.scheduled_scored_count >= PUBLISHABLE_SHARE * progress.scheduled_count


async def open_sources(ctx: Context) -> StageCollectors:
    approved = await asyncio.to_thread(read_approvals, ctx.store)
    return StageCollectors(await ctx.wiring.collectors(), await ctx.wiring.followers(), build_derivers(approved))


async def _keep_final(
    ctx: Context, run: Run, stage: Stage, collected: Sequence[CollectedServer]
) -> list[CollectedServer]:
    """The servers whose records are final; the others had a transient failure and are postponed."""
    found, tokens = {one.server: one.records for one in collected}, _tokens(collected)
    if stage is Stage.GITHUB:
        later = await asyncio.to_thread(quota_retries.postpone_rate_limited, ctx, run, found, tokens)
        return [one for one in collected if one.server not in later]
    if stage not in _PROBE_STAGES:
        return list(collected)
    kept = await asyncio.to_thread(retries.postpone_failed, ctx, run, stage, found, tokens)
    return [replace(one, records=kept[one.server]) for one in collected if one.server in kept]


def _absent_listings(records: Sequence[Record]) -> Mapping[str, int]:
    found = (record.content for record in records if record.kind == listing.KIND)
    return Counter(content.reason.value for content in found if isinstance(content, Absent))


def _silent_counter(ctx: Context) -> StageCounter:
    return StageCounter(NoDisplay(), ctx.clock, "collect", None)
