"""The steps of a run, each over a batch of server ids: start_run, discover, collect, score, publish (DESIGN 5).

Every step may be called again at any time, by any process: it first drops what is already done.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from crawler.collectors.drift import DriftCollector
from crawler.identity import by_trust
from crawler.patience import bounded
from evidence.derive.scrubbing import scrubbed
from evidence.kinds import listing, registration
from evidence.model import Absent, Dossier, Observed, Reason, Record, Run, Server, ServerId, Trigger
from evidence.store import Progress, RunEvent, RunState, Stage
from publish import snapshot
from publish.press import Press
from workers import findings, pins, planning, receipts, remembering, retries, stages
from workers.approvals import approvals
from workers.breaking import Breaker, Unbroken
from workers.cases import Case, Cases
from workers.context import Context
from workers.flow import Halt, anywhere, flow
from workers.light_checks import carried
from workers.log import about, frames
from workers.opt_outs import opt_outs
from workers.options import RunOptions, choose
from workers.progress import Tally, Unwatched
from workers.stages import Source, Sources
from workers.walks import Walked, recorded, walk_all

PUBLISHABLE_SHARE = 0.99
CHUNK = 100
LONG = 64 * 1024  # bytes, which are searched for secrets in some milliseconds

Pull = Callable[[], Awaitable[Sequence[ServerId]]]

_VISITS = stages.FIRST | {Stage.COLLECT}


class NotPublishable(Exception):
    """Too little of the run is scored; the message says how much."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What was found of a server in a part of collecting, and the part in which it is looked at next."""

    server: ServerId
    records: Sequence[Record]
    onward: Stage | None


def start_run(ctx: Context, trigger: Trigger, options: RunOptions, *, run_id: str | None = None) -> Run:
    """Create a run pinned to the versions of this process, or return the run that already has this id."""
    run = Run(
        id=run_id or f"{ctx.clock.wall():%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}",
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

    async def servers() -> Sequence[Server]:
        ids = await pull()
        return await asyncio.to_thread(ctx.store.servers, ids) if ids else ()

    async def look(server: Server) -> Looked | None:
        if (why := opted_out.why(server)) is not None:
            return _left_alone(ctx, sources, await cases.of(server), why)
        if await breaker.puts_back(run, stage, server):
            return None
        with about(server=server.id):
            looked = await _look(ctx, sources, stage, await cases.of(server))
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
        # Private addresses have no gap, so that those who share one need not wait.
        place=anywhere if ctx.settings.allow_private or stage not in _VISITS else stages.host,
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
        looked.append(Looked(server, await _settled(ctx, sources, case, absent), None))
    await store_looked(ctx, run, Stage.COLLECT, looked)


async def set_aside(ctx: Context, run: Run, stage: Stage, servers: Sequence[ServerId], why: Absent) -> None:
    """Record for servers that nobody may look at in a part of collecting why there is nothing of it."""
    sources, cases = await _sources(ctx), Cases(ctx, run, stage)
    known = await asyncio.to_thread(cases.read, await asyncio.to_thread(ctx.store.servers, servers))
    await store_looked(ctx, run, stage, [_unlooked(ctx, sources, stage, case, why) for case in known.values()])


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
    press = Press(ctx.settings.store_url, ctx.settings.publish_processes)
    manifest = await asyncio.to_thread(snapshot.manifest, ctx.store, run.id, press.printed)
    if await asyncio.to_thread(ctx.store.publish, run.id, manifest, ctx.clock.wall(), by):
        ctx.log.info("run_published", run=run.id, planned=progress.planned, scored=scored)


def is_publishable(progress: Progress) -> bool:
    """True when at least 99 % of the servers whose turn it was, and at least one, are scored."""
    return 0 < progress.turned_scored >= PUBLISHABLE_SHARE * progress.turned


async def _sources(ctx: Context) -> Sources:
    approved = await asyncio.to_thread(approvals, ctx.store)
    drift = DriftCollector(ctx.clock.now, approved)
    return Sources(await ctx.outside.collectors(), (*await ctx.outside.followers(), drift))


async def _look(ctx: Context, sources: Sources, stage: Stage, case: Case) -> Looked:
    """All records of one part of one server. One whose registration is invalid is not contacted, in no part."""
    records = _registered(ctx, case)
    if records and isinstance(invalid := records[0].content, Absent):
        return _left_alone(ctx, sources, case, invalid)
    collectors, followers = sources.at(case.server, stage, case.found)
    for collector in collectors:
        records += await _guarded(ctx, case, collector, collector.collect(case.server, case.earlier))
    for follower in followers:
        records += await _guarded(ctx, case, follower, follower.follow(_so_far(case, records), case.earlier))
    return Looked(case.server.id, records, sources.onward(case.server, stage))


def _left_alone(ctx: Context, sources: Sources, case: Case, why: Absent) -> Looked:
    """A server that is not contacted, in no part: everything about it is absent for one reason."""
    registered = _record(ctx, case, pins.REGISTRAR, registration.KIND, why)
    return Looked(
        case.server.id, [registered, *_absent(ctx, case, (*sources.collectors, *sources.followers), why)], None
    )


def _unlooked(ctx: Context, sources: Sources, stage: Stage, case: Case, why: Absent) -> Looked:
    """The same with nobody looking."""
    collectors, followers = sources.at(case.server, stage, case.found)
    everybody: Sequence[Source] = (*collectors, *followers)
    records = [*_registered(ctx, case), *(_instead(ctx, case, by, kind, why) for by in everybody for kind in by.kinds)]
    return Looked(case.server.id, records, sources.onward(case.server, stage))


async def _settled(ctx: Context, sources: Sources, case: Case, why: Absent) -> list[Record]:
    """What there is to say of a server that failed in passing and is not looked at again; nobody is asked."""
    unseen = Absent(Reason.NOT_COLLECTED, why.detail)
    records = _registered(ctx, case)
    everybody: Sequence[Source] = (*sources.collectors, *sources.followers)
    for by in everybody:
        if isinstance(by, DriftCollector):  # the approved listing lives in an unbroken chain of these
            records += await _guarded(ctx, case, by, by.follow(_so_far(case, records), case.earlier))
        elif listing.KIND in by.kinds:
            records += [_record(ctx, case, by, kind, why) for kind in by.kinds]
        else:
            records += [_instead(ctx, case, by, kind, unseen) for kind in by.kinds]
    return records


async def _final(ctx: Context, run: Run, stage: Stage, looked: Sequence[Looked]) -> list[Looked]:
    """Those of which this is what the run says; the others failed in passing and are looked at again."""
    if stage not in _VISITS:
        return list(looked)
    found = {one.server: one.records for one in looked}
    kept = await asyncio.to_thread(retries.put_off, ctx, run, stage, found)
    return [replace(one, records=kept[one.server]) for one in looked if one.server in kept]


def _registered(ctx: Context, case: Case) -> list[Record]:
    """What the registries say, recorded in the first part."""
    if registration.KIND in case.found.records:
        return []
    said = registration.compose(by_trust(case.refs, case.server.ref))
    return [_record(ctx, case, pins.REGISTRAR, registration.KIND, said)]


def _absent(ctx: Context, case: Case, sources: Sequence[Source], why: Absent) -> list[Record]:
    return [_record(ctx, case, by, kind, why) for by in sources for kind in by.kinds]


def _so_far(case: Case, records: Sequence[Record]) -> Dossier:
    return replace(case.found, records={**case.found.records, **{record.kind: record for record in records}})


async def _guarded(ctx: Context, case: Case, by: Source, looking: Awaitable[list[Record]]) -> list[Record]:
    """The collector boundary: a bug in a collector is recorded as evidence of ours and never ends a run.

    One that never returns is a bug too, its wait for its turn left out.
    """
    try:
        async with bounded(ctx.settings.collector_timeout.total_seconds()):
            records = await _scrubbed(await looking)
        answered = sorted(record.kind for record in records)
        if answered != sorted(by.kinds):
            raise RuntimeError(f"{by.name} answered for {answered}, expected {sorted(by.kinds)}")
    except Exception as error:  # noqa: BLE001  the only one in the product (DESIGN 5)
        name = type(error).__name__
        ctx.log.error("collector_failed", server=case.server.id, collector=by.name, error=name, at=frames(error))
        return [_instead(ctx, case, by, kind, Absent(Reason.COLLECTOR_ERROR, name)) for kind in by.kinds]
    return records


def _instead(ctx: Context, case: Case, by: Source, kind: str, failed: Absent) -> Record:
    """The record of a kind for a collector that failed: what it saw before, when it told when and that is not long ago.

    Only collectors that record what was seen before by themselves tell so; evidence of a server's own answers is of one
    night.
    """
    known = case.earlier.records.get(kind)
    record = _record(ctx, case, by, kind, failed)
    if known is None or not isinstance(known.content, Observed) or not remembering.is_recent(known, ctx.clock.now()):
        return record
    return replace(record, content=known.content, observation={**known.observation, "failed": failed.detail})


async def _scrubbed(records: Sequence[Record]) -> list[Record]:
    """The records without secrets; long ones are read in a thread, or the answers of other servers would wait."""
    bodies = sum(len(record.content.body) for record in records if isinstance(record.content, Observed))
    if bodies <= LONG:
        return [scrubbed(record) for record in records]
    return await asyncio.to_thread(lambda: [scrubbed(record) for record in records])


def _record(ctx: Context, case: Case, by: pins.Versioned, kind: str, content: Observed | Absent) -> Record:
    return Record(
        server=case.server.id,
        kind=kind,
        schema=pins.evidence_schemas()[kind],
        collector=by.name,
        collector_version=by.version,
        observed_at=ctx.clock.now(),
        content=content,
        observation=carried(case.earlier, kind),
    )


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
