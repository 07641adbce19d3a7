"""The steps of a run, each over a batch of server ids: start_run, discover, collect, score, publish.

Every step may be called again at any time, by any process: it first drops what is already done.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace

from crawler.collectors.derivers import build_derivers
from evidence.kinds import listing
from evidence.model import Absent, Reason, Record, Run, Server, ServerId, Trigger
from evidence.store import RunEvent, RunProgress, RunState, Stage
from publish.publication import listing_writer
from publish.publication import manifest as snapshot
from publish.publication.export_workers import RunExporter
from workers.concurrency import Halt, process_concurrently, select_first_of_each_place, without_place
from workers.context import Context
from workers.coordination.circuit_breaker import CircuitBreaker, NoCircuitBreaker
from workers.log import bind_log_context, list_frames
from workers.opt_outs import load_opt_outs
from workers.progress import NoDisplay, StageCounter
from workers.publication import finding_disclosure, listing_index
from workers.runs import identifiers, pins
from workers.runs.options import RunOptions, select_servers
from workers.stages import planning, quota_retries, retries, routing, scorecards, server_collection
from workers.stages.approved_listings import read_approvals
from workers.stages.collect_inputs import CollectInputReader
from workers.stages.discovery import RegistryProgress, read_registry_progress, walk_registries
from workers.stages.routing import StageCollectors
from workers.stages.server_collection import CollectedServer

PUBLISHABLE_SHARE = 0.99
SERVERS_PER_CHUNK = 100

PullServers = Callable[[], Awaitable[Sequence[ServerId]]]

_VISITS = routing.FIRST_STAGES | {Stage.COLLECT}


class NotPublishable(Exception):
    """Too little of the run is scored; the message says how much."""


def start_run(ctx: Context, trigger: Trigger, options: RunOptions, *, run_id: str | None = None) -> Run:
    """Create a run pinned to the versions of this process, or return the run that already has this id."""
    run = Run(
        id=run_id or identifiers.make_run_id(ctx.clock.wall()),
        trigger=trigger,
        as_of=ctx.clock.now(),
        pins=ctx.pins,
    )
    ctx.store.add_run(run, options=options.to_json())
    stored = ctx.store.find_run(run.id)
    return stored.run if stored else run


async def discover(
    ctx: Context, run: Run, *, halt: Halt | None = None, tally: StageCounter | None = None
) -> list[RegistryProgress]:
    """Walk the registries of the run's options and plan the chosen servers; do nothing when the run is planned.

    A registry that fails is recorded in its walk and does not stop the others: what earlier walks found of it is
    planned. Nothing is planned when `halt` was set, which stops the walks between two pages, or when no server was
    found: the next call goes on.
    """
    pins.check_pins(run, ctx.pins)
    stored = await asyncio.to_thread(ctx.store.find_run, run.id)
    if stored is None:
        return []
    options = RunOptions.from_json(stored.options)
    if stored.state is not RunState.DISCOVERING:
        return await read_registry_progress(ctx, run, options.registries)
    halt = halt or Halt()
    walked = await walk_registries(ctx, run, options.registries, halt, tally or _untold(ctx))
    servers = await asyncio.to_thread(ctx.store.list_active_servers, [walk.registry for walk in walked])
    chosen = select_servers(servers, options)
    if chosen and not halt.is_set():
        await asyncio.to_thread(planning.plan_servers, ctx, run, chosen)
    return walked


async def collect(
    ctx: Context, run: Run, servers: Sequence[ServerId], *, halt: Halt | None = None, tally: StageCounter | None = None
) -> None:
    """Record evidence of those servers that have none in this run yet, many at the same time."""
    waiting = await asyncio.to_thread(ctx.store.list_pending_servers, run.id, Stage.COLLECT, servers)
    await collect_pulled(ctx, run, pull_once(waiting), halt=halt, tally=tally)


def pull_once(servers: Sequence[ServerId]) -> PullServers:
    """Hands out these servers, in chunks."""
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
    tally: StageCounter | None = None,
    breaker: CircuitBreaker | None = None,
) -> None:
    """Record evidence of whatever `pull` hands out until it hands out nothing, many servers at the same time.

    `stage` is the part of collecting that is done, by default all of it. Servers whose host does not answer, as
    `breaker` knows, are put back.
    """
    pins.check_pins(run, ctx.pins)
    tally, breaker = tally or _untold(ctx), breaker or NoCircuitBreaker()
    sources, cases = await _sources(ctx), CollectInputReader(ctx, run, stage)
    opted_out = await asyncio.to_thread(load_opt_outs, ctx.settings, ctx.store)

    # Private addresses have no gap, so that those who share one need not wait.
    place = without_place if ctx.settings.allow_private or stage not in _VISITS else routing.find_probed_host

    async def servers() -> Sequence[Server]:
        if not (ids := await pull()):
            return ()
        found = await asyncio.to_thread(ctx.store.find_servers, ids)
        # Who waits for a place may do so for long, and is known by its address alone until then.
        await cases.expect(select_first_of_each_place(found, place))
        return found

    async def look(server: Server) -> CollectedServer | None:
        if (why := opted_out.why(server)) is not None:
            return server_collection.record_not_contacted(ctx, sources, await cases.of(server), why)
        if await breaker.postpone_server(run, stage, server):
            return None
        with bind_log_context(server=server.id):
            looked = await server_collection.collect_server(ctx, sources, stage, await cases.of(server))
        await breaker.tell(server, looked.records)
        return looked

    async def write(finished: Sequence[CollectedServer | None]) -> None:
        looked = await _final(ctx, run, stage, [one for one in finished if one is not None])
        await store_collected(ctx, run, stage, looked)
        tally.add(len(looked), absent=_absent_listings([record for one in looked for record in one.records]))

    await process_concurrently(
        servers,
        look,
        write,
        lanes=routing.max_concurrent_servers(ctx.settings, stage),
        group=ctx.settings.write_batch,
        halt=halt or Halt(),
        grace=ctx.settings.stop_grace,
        place=place,
    )


async def record_pending_retries(ctx: Context, run: Run) -> None:
    """Record for servers that were to be looked at again why they could not be listed: the run ends before that."""
    waiting = await asyncio.to_thread(ctx.store.list_postponed_servers, run.id, sorted(retries.TRANSIENT_REASONS))
    if not waiting:
        return
    sources, cases = await _sources(ctx), CollectInputReader(ctx, run, Stage.COLLECT)
    known = await asyncio.to_thread(cases.read, await asyncio.to_thread(ctx.store.find_servers, sorted(waiting)))
    looked = []
    for server, case in known.items():
        absent = Absent(Reason(waiting[server]), "the night ended before it was looked at again")
        looked.append(
            CollectedServer(server, await server_collection.record_failed_server(ctx, sources, case, absent), None)
        )
    await store_collected(ctx, run, Stage.COLLECT, looked)


async def record_set_aside(ctx: Context, run: Run, stage: Stage, servers: Sequence[ServerId], why: Absent) -> None:
    """Record the opt-out as the reason of absence in a part of collecting."""
    sources, cases = await _sources(ctx), CollectInputReader(ctx, run, stage)
    known = await asyncio.to_thread(cases.read, await asyncio.to_thread(ctx.store.find_servers, servers))
    await store_collected(
        ctx,
        run,
        stage,
        [server_collection.record_stage_absent(ctx, sources, stage, case, why) for case in known.values()],
    )


async def store_collected(ctx: Context, run: Run, stage: Stage, looked: Sequence[CollectedServer]) -> None:
    """Store records and let their servers pass a part of collecting, in one transaction."""
    await asyncio.to_thread(
        ctx.store.put_records,
        run.id,
        [record for one in looked for record in one.records],
        done=[one.server for one in looked],
        at=ctx.clock.wall(),
        stage=stage,
        onward={one.server: one.onward for one in looked if one.onward is not None},
    )


async def score(
    ctx: Context, run: Run, servers: Sequence[ServerId], *, halt: Halt | None = None, tally: StageCounter | None = None
) -> None:
    """Write the scorecards of those servers that have evidence and no scorecards in this run.

    A server whose rule or rubric raises gets no scorecard at all: the item is recorded as failed, the others go on.
    """
    pins.check_pins(run, ctx.pins)
    tally = tally or _untold(ctx)
    waiting = await asyncio.to_thread(ctx.store.list_pending_servers, run.id, Stage.SCORE, servers)
    uncollected = set(await asyncio.to_thread(ctx.store.list_pending_servers, run.id, Stage.COLLECT, waiting))
    ready = [server for server in waiting if server not in uncollected]
    for start in range(0, len(ready), SERVERS_PER_CHUNK):
        if halt is not None and halt.is_set():
            return
        await _score_chunk(ctx, run, ready[start : start + SERVERS_PER_CHUNK], tally)


async def publish(ctx: Context, run: Run, *, late: bool = False, by: RunEvent | None = None) -> None:
    """Write the run's snapshot and mark it published; do nothing when it is, or when it was stopped.

    Raise NotPublishable when less than 99 % of the servers whose turn it was are scored, unless the run is `late` or an
    operator has it published (`by`): then what is there is published, and the manifest says how many were planned. An
    operator who has a run published that was stopped gets IllegalRunChange.
    """
    pins.check_pins(run, ctx.pins)
    stored = await asyncio.to_thread(ctx.store.find_run, run.id)
    if by is None and stored is not None and not stored.state.is_working:
        return
    progress = await asyncio.to_thread(ctx.store.read_progress, run.id)
    scored = progress.done.get(Stage.SCORE, 0)
    if scored == 0 or not (late or by or is_publishable(progress)):
        raise NotPublishable(
            f"{progress.scheduled_scored_count} of {progress.scheduled_count} servers are scored, at least 99 % "
            f"expected before run {run.id} is published. `last_error` of the missing ones says why."
        )
    press = RunExporter(ctx.settings.store_url, ctx.settings.publish_processes, listing=True)
    printed = listing_writer.export_and_list(run, press.export)
    manifest = await asyncio.to_thread(snapshot.make_manifest, ctx.store, run.id, printed)
    if await asyncio.to_thread(ctx.store.publish_run, run.id, manifest, ctx.clock.wall(), by):
        await asyncio.to_thread(listing_index.hide_opted_out, ctx.settings, ctx.store)
        ctx.log.info("run_published", run=run.id, planned=progress.planned, scored=scored)


def is_publishable(progress: RunProgress) -> bool:
    """True when at least 99 % of the servers whose turn it was, and at least one, are scored."""
    return 0 < progress.scheduled_scored_count >= PUBLISHABLE_SHARE * progress.scheduled_count


async def _sources(ctx: Context) -> StageCollectors:
    approved = await asyncio.to_thread(read_approvals, ctx.store)
    return StageCollectors(await ctx.outside.collectors(), await ctx.outside.followers(), build_derivers(approved))


async def _final(ctx: Context, run: Run, stage: Stage, looked: Sequence[CollectedServer]) -> list[CollectedServer]:
    """Those of which this is what the run says; the others failed in passing and are looked at again."""
    found = {one.server: one.records for one in looked}
    if stage is Stage.GITHUB:
        later = await asyncio.to_thread(quota_retries.postpone_rate_limited, ctx, run, found)
        return [one for one in looked if one.server not in later]
    if stage not in _VISITS:
        return list(looked)
    kept = await asyncio.to_thread(retries.postpone_failed, ctx, run, stage, found)
    return [replace(one, records=kept[one.server]) for one in looked if one.server in kept]


def _absent_listings(records: Sequence[Record]) -> Mapping[str, int]:
    found = (record.content for record in records if record.kind == listing.KIND)
    return Counter(content.reason.value for content in found if isinstance(content, Absent))


async def _score_chunk(ctx: Context, run: Run, servers: Sequence[ServerId], tally: StageCounter) -> None:
    judged = await asyncio.to_thread(scorecards.score_servers, ctx.store, run, servers)
    done = [server for server in servers if server not in judged.errors]
    await asyncio.to_thread(finding_disclosure.record_findings, ctx.store, run.id, judged.cards)
    await asyncio.to_thread(ctx.store.put_scorecards, run.id, judged.cards, done=done, at=ctx.clock.wall())
    ctx.log.info("servers_scored", run=run.id, scored=len(done), looked_up=judged.looked_up)
    for server, error in judged.errors.items():
        ctx.log.error("scoring_failed", run=run.id, server=server, error=type(error).__name__, at=list_frames(error))
        await asyncio.to_thread(
            ctx.store.record_failure, run.id, server, Stage.SCORE, f"{type(error).__name__}: {error}"
        )
    tally.add(len(done), failed=len(judged.errors))


def _untold(ctx: Context) -> StageCounter:
    return StageCounter(NoDisplay(), ctx.clock, "collect", None)
