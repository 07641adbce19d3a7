"""Collects one server in one stage, and records collectors that failed.

This is the error boundary of collectors: their exceptions become records. It has the only broad `except` of Hallmark.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final, Protocol

from msgspec import Struct
from msgspec.structs import replace

from crawler.collector import Deriver, Scarce, Source
from crawler.http.deadlines import limit_duration
from crawler.identity import order_by_trust
from evidence.derive.secret_scrubbing import scrub_record
from evidence.kinds import listing, registration
from evidence.kinds.traits import schemas
from evidence.model import Absent, Dossier, Observed, Reason, Record, ServerId
from evidence.store import Stage
from workers.clock import Clock
from workers.log import Log, list_frames
from workers.observability.tracing import open_span
from workers.runs import pins
from workers.settings.environment import Settings
from workers.stages import earlier_evidence
from workers.stages.availability_samples import read_carried_samples
from workers.stages.collect_inputs import CollectInput
from workers.stages.collecting_time import TimeLeft
from workers.stages.routing import StageCollectors

LONG_BODIES: Final = 64 * 1024  # bytes, which are searched for secrets in some milliseconds


class Collecting(Protocol):
    """The parts of a Context that collecting uses; `scan` has no store and implements only these."""

    @property
    def settings(self) -> Settings: ...

    @property
    def clock(self) -> Clock: ...

    @property
    def log(self) -> Log: ...


class CollectedServer(Struct, frozen=True):
    """The records of a server from one stage, its next stage (None after the last), and the lease it was made under."""

    server: ServerId
    records: Sequence[Record]
    next_stage: Stage | None
    token: int | None = None


async def collect_server(
    ctx: Collecting,
    sources: StageCollectors,
    stage: Stage,
    subject: CollectInput,
    *,
    left: TimeLeft | None = None,
    on_source: Callable[[str], None] = lambda _: None,
) -> CollectedServer:
    """All records of one server from one stage. A server with an invalid registration is never contacted.

    What is not collected in the time that is `left` is absent. `on_source` gets the name of each source before it runs.
    """
    records = _registered(ctx, subject)
    if records and isinstance(invalid := records[0].content, Absent):
        return record_not_contacted(ctx, sources, subject, invalid)
    selected = sources.select(subject.server, stage, subject.found)
    visit = _Visit(ctx, subject, on_source)
    if left is not None and left.beside:
        records += await visit.collect_beside(selected, records, left)
    else:
        records += await visit.collect(selected, records, left)
    for deriver in selected.derivers:
        records += await _guarded(ctx, subject, deriver, _derived(ctx, subject, deriver, records))
    return CollectedServer(subject.server.id, records, sources.next_stage(subject.server, stage))


class _Visit(Struct, frozen=True):
    """One visit of a server."""

    ctx: Collecting
    subject: CollectInput
    on_source: Callable[[str], None]

    async def collect(self, selected: StageCollectors, known: Sequence[Record], left: TimeLeft | None) -> list[Record]:
        """The records of the collectors, and then of the followers, one after the other."""
        ctx, subject, records = self.ctx, self.subject, list(known)
        for collector in selected.collectors:
            self.on_source(collector.name)
            work = collector.collect(subject.server, subject.earlier)
            records += await _guarded(ctx, subject, collector, work, left)
        for follower in selected.followers:
            self.on_source(follower.name)
            work = follower.follow(_so_far(subject, records), subject.earlier)
            records += await _guarded(ctx, subject, follower, work, left)
        return records[len(known) :]

    async def collect_beside(self, selected: StageCollectors, known: Sequence[Record], left: TimeLeft) -> list[Record]:
        """The same, for a person who waits: what is read about a package is read while the package is installed and
        started. Without earlier evidence no follower needs what the server said.
        """
        talking = [one for one in selected.collectors if one.needs is Scarce.SERVER]
        others = [one for one in selected.collectors if one.needs is not Scarce.SERVER]
        reading = left.split()
        async with asyncio.TaskGroup() as tasks:
            asked = tasks.create_task(self.collect(StageCollectors(talking, [], []), known, left))
            quiet = replace(self, on_source=lambda name: self.on_source(name) if asked.done() else None)
            read = tasks.create_task(quiet.collect(StageCollectors(others, selected.followers, []), known, reading))
        left.seconds = min(left.seconds, reading.seconds)
        return [*asked.result(), *read.result()]


def record_not_contacted(
    ctx: Collecting, sources: StageCollectors, subject: CollectInput, why: Absent
) -> CollectedServer:
    """Records of a server that is never contacted: every kind is absent for one reason."""
    registered = _record(ctx, subject, pins.REGISTRAR, registration.KIND, why)
    absent = [_record(ctx, subject, by, kind, why) for by in sources.all for kind in by.kinds]
    return CollectedServer(subject.server.id, [registered, *absent], None)


def record_stage_absent(
    ctx: Collecting, sources: StageCollectors, stage: Stage, subject: CollectInput, why: Absent
) -> CollectedServer:
    """Records of one stage in which every kind is absent for one reason, or carried over from earlier evidence."""
    selected = sources.select(subject.server, stage, subject.found).all
    records = [
        *_registered(ctx, subject),
        *(_instead(ctx, subject, by, kind, why) for by in selected for kind in by.kinds),
    ]
    return CollectedServer(subject.server.id, records, sources.next_stage(subject.server, stage))


async def record_failed_server(
    ctx: Collecting, sources: StageCollectors, subject: CollectInput, why: Absent
) -> list[Record]:
    """Records of a server with a transient failure that is not retried any more; uses no network."""
    unseen = Absent(Reason.NOT_COLLECTED, why.detail)
    records = _registered(ctx, subject)
    online: Sequence[Source] = (*sources.collectors, *sources.followers)
    for by in online:
        if listing.KIND in by.kinds:
            records += [_record(ctx, subject, by, kind, why) for kind in by.kinds]
        else:
            records += [_instead(ctx, subject, by, kind, unseen) for kind in by.kinds]
    for deriver in sources.derivers:
        records += await _guarded(ctx, subject, deriver, _derived(ctx, subject, deriver, records))
    return records


def _registered(ctx: Collecting, subject: CollectInput) -> list[Record]:
    """The registration record, made in the first stage only."""
    if registration.KIND in subject.found.records or subject.refs is None:
        return []
    content = registration.compose_registration(order_by_trust(subject.refs, subject.server.ref))
    return [_record(ctx, subject, pins.REGISTRAR, registration.KIND, content)]


async def _derived(ctx: Collecting, subject: CollectInput, deriver: Deriver, records: Sequence[Record]) -> list[Record]:
    """Derive in a thread: a listing of a thousand tools takes seconds, which would delay other servers."""
    return await asyncio.to_thread(deriver.derive, _so_far(subject, records), subject.earlier, ctx.clock.now())


def _so_far(subject: CollectInput, records: Sequence[Record]) -> Dossier:
    return replace(subject.found, records={**subject.found.records, **{record.kind: record for record in records}})


async def _guarded(
    ctx: Collecting,
    subject: CollectInput,
    by: Source,
    work: Coroutine[Any, Any, list[Record]],
    left: TimeLeft | None = None,
) -> list[Record]:
    """The records of a collector, in a span of its own."""
    with open_span(f"collect {by.name}", server=subject.server.id) as span:
        records = await _bounded(ctx, subject, by, work, left)
        span.record_outcome(name_outcome(records))
        return records


async def _bounded(
    ctx: Collecting, subject: CollectInput, by: Source, work: Coroutine[Any, Any, list[Record]], left: TimeLeft | None
) -> list[Record]:
    """The error boundary: the exception of a collector becomes COLLECTOR_ERROR records and never ends a run.

    A collector that exceeds its time limit, waits for its turn not counted, is treated alike. When the time that is
    `left` is over, the records are absent for that reason.
    """
    if left is not None and left.is_over:
        work.close()
        return [_instead(ctx, subject, by, kind, left.not_begun) for kind in by.kinds]
    seconds = ctx.settings.collector_timeout.total_seconds()
    try:
        async with limit_duration(seconds) if left is None else left.limit(seconds):
            records = await _scrubbed(await work)
        answered = sorted(record.kind for record in records)
        if answered != sorted(by.kinds):
            raise RuntimeError(f"{by.name} answered for {answered}, expected {sorted(by.kinds)}")
    except Exception as error:  # noqa: BLE001  the only one in the product (ARCHITECTURE.md)
        if left is not None and left.is_over and isinstance(error, TimeoutError):
            return [_instead(ctx, subject, by, kind, left.not_finished) for kind in by.kinds]
        name = type(error).__name__
        ctx.log.error(
            "collector_failed", server=subject.server.id, collector=by.name, error=name, at=list_frames(error)
        )
        return [_instead(ctx, subject, by, kind, Absent(Reason.COLLECTOR_ERROR, name)) for kind in by.kinds]
    return records


def name_outcome(records: Sequence[Record]) -> str:
    """The outcome of records in one word: that of the listing, else `observed` or the first reason when none is."""
    judged = [record for record in records if record.kind == listing.KIND] or records
    reasons = [record.content.reason.value for record in judged if isinstance(record.content, Absent)]
    return reasons[0] if reasons and len(reasons) == len(judged) else "observed"


def _instead(ctx: Collecting, subject: CollectInput, by: Source, kind: str, failed: Absent) -> Record:
    """The record of a collector that failed: the earlier content when its `looked_at` is recent, else the absence.

    Only collectors that carry over earlier evidence themselves record `looked_at`; a server's own answers are valid
    for one run.
    """
    record = _record(ctx, subject, by, kind, failed)
    earlier = subject.earlier.records.get(kind)
    if earlier is None or not earlier_evidence.is_recent_record(earlier, ctx.clock.now()):
        return record
    if not isinstance(earlier.content, Observed):
        return record
    return replace(record, content=earlier.content, observation={**earlier.observation, "failed": failed.detail})


async def _scrubbed(records: Sequence[Record]) -> list[Record]:
    """The records without secrets; long bodies are searched in a thread, so that other servers do not wait."""
    bodies = sum(len(record.content.body) for record in records if isinstance(record.content, Observed))
    if bodies <= LONG_BODIES:
        return [scrub_record(record) for record in records]
    return await asyncio.to_thread(lambda: [scrub_record(record) for record in records])


def _record(
    ctx: Collecting, subject: CollectInput, by: pins.VersionedCollector, kind: str, content: Observed | Absent
) -> Record:
    return Record(
        server=subject.server.id,
        kind=kind,
        schema=schemas()[kind],
        collector=by.name,
        collector_version=by.version,
        observed_at=ctx.clock.now(),
        content=content,
        observation=read_carried_samples(subject.earlier, kind),
    )
