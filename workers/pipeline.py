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
from evidence.store import Progress, RunEvent, RunState, Stage
from publish import posting, snapshot
from publish.press import Press
from workers import boards, findings, looking, pins, planning, quota_waits, receipts, retries, run_ids, stages
from workers.approvals import approvals
from workers.breaking import Breaker, Unbroken
from workers.cases import Cases
from workers.context import Context
from workers.flow import Halt, anywhere, first_of_each, flow
from workers.log import about, frames
from workers.looking import Looked
from workers.opt_outs import opt_outs
from workers.options import RunOptions, choose
from workers.progress import Tally, Unwatched
from workers.stages import Sources
from workers.walks import Walked, recorded, walk_all

PUBLISHABLE_SHARE = 0.99
CHUNK = 100

Pull = Callable[[], Awaitable[Sequence[ServerId]]]

_VISITS = stages.FIRST | {Stage.COLLECT}


class NotPublishable(Exception):
    """Too little of the run is scored; the message says how much."""


def start_run(ctx: Context, trigger: Trigger, options: RunOptions, *, run_id: str | None = None) -> Run:
    """Create a run pinned to the versions of this process, or return the run that already has this id."""
    run = Run(
        id=run_id or run_ids.run_id(ctx.clock.wall()),
        trigger=trigger,
        as_of=ctx.clock.now(),
        pins=ctx.pins,
    )
    ctx.store.add_run(run, options=options.to_json())
    stored = ctx.store.run(run.id)
    return stored.run if stored else run


async def discover(ctx: Context, run: Run, *, halt: Halt | None = None, tally: Tally | None = None) -> list[Walked]:
    """Walk the registries of the run's options and plan the chosen servers; do nothing when the run is planned.

    A registry that fails is recorded in its walk and does not stop the others: what earlier walks found of it is
    planned. Nothing is planned when `halt` was set, which stops the walks between two pages, or when no server was
    found: the next call goes on.
    """
    pins.check(run, ctx.pins)
    stored = await asyncio.to_thread(ctx.store.run, run.id)
    if stored is None:
        return []
    options = RunOptions.from_json(stored.options)
    if stored.state is not RunState.DISCOVERING:
        return await recorded(ctx, run, options.registries)
    halt = halt or Halt()
    walked = await walk_all(ctx, run, options.registries, halt, tally or _untold(ctx))
    servers = await asyncio.to_thread(ctx.store.active_servers, [walk.registry for walk in walked])
    chosen = choose(servers, options)
    if chosen and not halt.is_set():
        await asyncio.to_thread(planning.plan, ctx, run, chosen)
    return walked


async def collect(
    ctx: Context, run: Run, servers: Sequence[ServerId], *, halt: Halt | None = None, tally: Tally | None = None
) -> None:
    """Record evidence of those servers that have none in this run yet, many at the same time."""
    waiting = await asyncio.to_thread(ctx.store.pending, run.id, Stage.COLLECT, servers)
    await collect_pulled(ctx, run, once(waiting), halt=halt, tally=tally)


def once(servers: Sequence[ServerId]) -> Pull:
    """Hands out these servers, in chunks."""
    chunks = iter([servers[start : start + CHUNK] for start in range(0, len(servers), CHUNK)])

    async def pull() -> Sequence[ServerId]:
        return next(chunks, ())

    return pull


async def collect_pulled(
    ctx: Context,
    run: Run,
    pull: Pull,
    *,
    stage: Stage = Stage.COLLECT,
    halt: Halt | None = None,
    tally: Tally | None = None,
    breaker: Breaker | None = None,
) -> None:
    """Record evidence of whatever `pull` hands out until it hands out nothing, many servers at the same time.

    `stage` is the part of collecting that is done, by default all of it. Servers whose host does not answer, as
    `breaker` knows, are put back.
    """
    pins.check(run, ctx.pins)
    tally, breaker = tally or _untold(ctx), breaker or Unbroken()
    sources, cases = await _sources(ctx), Cases(ctx, run, stage)
    opted_out = await asyncio.to_thread(opt_outs, ctx.settings, ctx.store)

    # Private addresses have no gap, so that those who share one need not wait.
    place = anywhere if ctx.settings.allow_private or stage not in _VISITS else stages.host

    async def servers() -> Sequence[Server]:
        if not (ids := await pull()):
            return ()
        found = await asyncio.to_thread(ctx.store.servers, ids)
        # Who waits for a place may do so for long, and is known by its address alone until then.
        await cases.expect(first_of_each(found, place))
        return found

    async def look(server: Server) -> Looked | None:
        if (why := opted_out.why(server)) is not None:
            return looking.leave_alone(ctx, sources, await cases.of(server), why)
        if await breaker.puts_back(run, stage, server):
            return None
        with about(server=server.id):
            looked = await looking.look_at(ctx, sources, stage, await cases.of(server))
        await breaker.tell(server, looked.records)
        return looked

    async def write(finished: Sequence[Looked | None]) -> None:
        looked = await _final(ctx, run, stage, [one for one in finished if one is not None])
        await store_looked(ctx, run, stage, looked)
        tally.add(len(looked), absent=_absent_listings([record for one in looked for record in one.records]))

    await flow(
        servers,
        look,
        write,
        lanes=stages.lanes(ctx.settings, stage),
        group=ctx.settings.write_batch,
        halt=halt or Halt(),
        grace=ctx.settings.stop_grace,
        place=place,
    )


async def settle(ctx: Context, run: Run) -> None:
    """Record for servers that were to be looked at again why they could not be listed: the run ends before that."""
    waiting = await asyncio.to_thread(ctx.store.put_off, run.id, sorted(retries.PASSING))
    if not waiting:
        return
    sources, cases = await _sources(ctx), Cases(ctx, run, Stage.COLLECT)
    known = await asyncio.to_thread(cases.read, await asyncio.to_thread(ctx.store.servers, sorted(waiting)))
    looked = []
    for server, case in known.items():
        absent = Absent(Reason(waiting[server]), "the night ended before it was looked at again")
        looked.append(Looked(server, await looking.settled(ctx, sources, case, absent), None))
    await store_looked(ctx, run, Stage.COLLECT, looked)


async def set_aside(ctx: Context, run: Run, stage: Stage, servers: Sequence[ServerId], why: Absent) -> None:
    """Record for servers that nobody may look at in a part of collecting why there is nothing of it."""
    sources, cases = await _sources(ctx), Cases(ctx, run, stage)
    known = await asyncio.to_thread(cases.read, await asyncio.to_thread(ctx.store.servers, servers))
    await store_looked(ctx, run, stage, [looking.look_away(ctx, sources, stage, case, why) for case in known.values()])


async def store_looked(ctx: Context, run: Run, stage: Stage, looked: Sequence[Looked]) -> None:
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
    ctx: Context, run: Run, servers: Sequence[ServerId], *, halt: Halt | None = None, tally: Tally | None = None
) -> None:
    """Write the scorecards of those servers that have evidence and no scorecards in this run.

    A server whose rule or rubric raises gets no scorecard at all: the item is recorded as failed, the others go on.
    """
    pins.check(run, ctx.pins)
    tally = tally or _untold(ctx)
    waiting = await asyncio.to_thread(ctx.store.pending, run.id, Stage.SCORE, servers)
    uncollected = set(await asyncio.to_thread(ctx.store.pending, run.id, Stage.COLLECT, waiting))
    ready = [server for server in waiting if server not in uncollected]
    for start in range(0, len(ready), CHUNK):
        if halt is not None and halt.is_set():
            return
        await _score_chunk(ctx, run, ready[start : start + CHUNK], tally)


async def publish(ctx: Context, run: Run, *, late: bool = False, by: RunEvent | None = None) -> None:
    """Write the run's snapshot and mark it published; do nothing when it is, or when it was stopped.

    Raise NotPublishable when less than 99 % of the servers whose turn it was are scored, unless the run is `late` or an
    operator has it published (`by`): then what is there is published, and the manifest says how many were planned. An
    operator who has a run published that was stopped gets IllegalRunChange.
    """
    pins.check(run, ctx.pins)
    stored = await asyncio.to_thread(ctx.store.run, run.id)
    if by is None and stored is not None and not stored.state.is_working:
        return
    progress = await asyncio.to_thread(ctx.store.progress, run.id)
    scored = progress.done.get(Stage.SCORE, 0)
    if scored == 0 or not (late or by or is_publishable(progress)):
        raise NotPublishable(
            f"{progress.turned_scored} of {progress.turned} servers are scored, at least 99 % expected before run "
            f"{run.id} is published. `last_error` of the missing ones says why."
        )
    press = Press(ctx.settings.store_url, ctx.settings.publish_processes, board=True)
    printed = posting.printed(run, press.printed)
    manifest = await asyncio.to_thread(snapshot.manifest, ctx.store, run.id, printed)
    if await asyncio.to_thread(ctx.store.publish, run.id, manifest, ctx.clock.wall(), by):
        await asyncio.to_thread(boards.hide, ctx.settings, ctx.store)
        ctx.log.info("run_published", run=run.id, planned=progress.planned, scored=scored)


def is_publishable(progress: Progress) -> bool:
    """True when at least 99 % of the servers whose turn it was, and at least one, are scored."""
    return 0 < progress.turned_scored >= PUBLISHABLE_SHARE * progress.turned


async def _sources(ctx: Context) -> Sources:
    approved = await asyncio.to_thread(approvals, ctx.store)
    return Sources(await ctx.outside.collectors(), await ctx.outside.followers(), build_derivers(approved))


async def _final(ctx: Context, run: Run, stage: Stage, looked: Sequence[Looked]) -> list[Looked]:
    """Those of which this is what the run says; the others failed in passing and are looked at again."""
    found = {one.server: one.records for one in looked}
    if stage is Stage.GITHUB:
        later = await asyncio.to_thread(quota_waits.put_off, ctx, run, found)
        return [one for one in looked if one.server not in later]
    if stage not in _VISITS:
        return list(looked)
    kept = await asyncio.to_thread(retries.put_off, ctx, run, stage, found)
    return [replace(one, records=kept[one.server]) for one in looked if one.server in kept]


def _absent_listings(records: Sequence[Record]) -> Mapping[str, int]:
    found = (record.content for record in records if record.kind == listing.KIND)
    return Counter(content.reason.value for content in found if isinstance(content, Absent))


async def _score_chunk(ctx: Context, run: Run, servers: Sequence[ServerId], tally: Tally) -> None:
    judged = await asyncio.to_thread(receipts.judge, ctx.store, run, servers)
    done = [server for server in servers if server not in judged.errors]
    await asyncio.to_thread(findings.note, ctx.store, run.id, judged.cards)
    await asyncio.to_thread(ctx.store.put_scorecards, run.id, judged.cards, done=done, at=ctx.clock.wall())
    ctx.log.info("servers_scored", run=run.id, scored=len(done), looked_up=judged.looked_up)
    for server, error in judged.errors.items():
        ctx.log.error("scoring_failed", run=run.id, server=server, error=type(error).__name__, at=frames(error))
        await asyncio.to_thread(ctx.store.fail, run.id, server, Stage.SCORE, f"{type(error).__name__}: {error}")
    tally.add(len(done), failed=len(judged.errors))


def _untold(ctx: Context) -> Tally:
    return Tally(Unwatched(), ctx.clock, "collect", None)
