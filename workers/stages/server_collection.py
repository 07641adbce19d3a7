"""One server looked at, in a part of collecting or in all of it, and what is recorded of who could not look.

The boundary of collectors is here: what they raise becomes a record, and the only broad `except` of the product.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

from crawler.collector import Deriver, Source
from crawler.http.deadlines import limit_duration
from crawler.identity import order_by_trust
from evidence.derive.secret_scrubbing import scrub_record
from evidence.kinds import listing, registration
from evidence.kinds.traits import schemas
from evidence.model import Absent, Dossier, Observed, Reason, Record, ServerId
from evidence.store import Stage
from workers.clock import Clock
from workers.log import Log, list_frames
from workers.runs import pins
from workers.settings.environment import Settings
from workers.stages import earlier_evidence
from workers.stages.availability_samples import read_carried_samples
from workers.stages.collect_inputs import CollectInput
from workers.stages.routing import StageCollectors

LONG_BODIES: Final = 64 * 1024  # bytes, which are searched for secrets in some milliseconds


class Collecting(Protocol):
    """What collecting uses of a Context; `scan` has no store and gives just this."""

    @property
    def settings(self) -> Settings: ...

    @property
    def clock(self) -> Clock: ...

    @property
    def log(self) -> Log: ...


@dataclass(frozen=True, slots=True)
class CollectedServer:
    """What was found of a server in a part of collecting, and the part in which it is looked at next."""

    server: ServerId
    records: Sequence[Record]
    onward: Stage | None


async def collect_server(
    ctx: Collecting, sources: StageCollectors, stage: Stage, case: CollectInput
) -> CollectedServer:
    """All records of one part of one server. One whose registration is invalid is not contacted, in no part."""
    records = _registered(ctx, case)
    if records and isinstance(invalid := records[0].content, Absent):
        return record_not_contacted(ctx, sources, case, invalid)
    now = sources.at(case.server, stage, case.found)
    for collector in now.collectors:
        records += await _guarded(ctx, case, collector, collector.collect(case.server, case.earlier))
    for follower in now.followers:
        records += await _guarded(ctx, case, follower, follower.follow(_so_far(case, records), case.earlier))
    for deriver in now.derivers:
        records += await _guarded(ctx, case, deriver, _derived(ctx, case, deriver, records))
    return CollectedServer(case.server.id, records, sources.onward(case.server, stage))


def record_not_contacted(ctx: Collecting, sources: StageCollectors, case: CollectInput, why: Absent) -> CollectedServer:
    """A server that is not contacted, in no part: everything about it is absent for one reason."""
    registered = _record(ctx, case, pins.REGISTRAR, registration.KIND, why)
    absent = [_record(ctx, case, by, kind, why) for by in sources.all for kind in by.kinds]
    return CollectedServer(case.server.id, [registered, *absent], None)


def record_stage_absent(
    ctx: Collecting, sources: StageCollectors, stage: Stage, case: CollectInput, why: Absent
) -> CollectedServer:
    """The same without observation."""
    now = sources.at(case.server, stage, case.found).all
    records = [*_registered(ctx, case), *(_instead(ctx, case, by, kind, why) for by in now for kind in by.kinds)]
    return CollectedServer(case.server.id, records, sources.onward(case.server, stage))


async def record_failed_server(
    ctx: Collecting, sources: StageCollectors, case: CollectInput, why: Absent
) -> list[Record]:
    """The records of a server that failed temporarily and is not retried; without the network."""
    unseen = Absent(Reason.NOT_COLLECTED, why.detail)
    records = _registered(ctx, case)
    online: Sequence[Source] = (*sources.collectors, *sources.followers)
    for by in online:
        if listing.KIND in by.kinds:
            records += [_record(ctx, case, by, kind, why) for kind in by.kinds]
        else:
            records += [_instead(ctx, case, by, kind, unseen) for kind in by.kinds]
    for deriver in sources.derivers:
        records += await _guarded(ctx, case, deriver, _derived(ctx, case, deriver, records))
    return records


def _registered(ctx: Collecting, case: CollectInput) -> list[Record]:
    """What the registries say, recorded in the first part."""
    if registration.KIND in case.found.records or case.refs is None:
        return []
    said = registration.compose_registration(order_by_trust(case.refs, case.server.ref))
    return [_record(ctx, case, pins.REGISTRAR, registration.KIND, said)]


async def _derived(ctx: Collecting, case: CollectInput, deriver: Deriver, records: Sequence[Record]) -> list[Record]:
    """In a thread: a listing of a thousand tools takes seconds, and the other servers' answers would wait."""
    return await asyncio.to_thread(deriver.derive, _so_far(case, records), case.earlier, ctx.clock.now())


def _so_far(case: CollectInput, records: Sequence[Record]) -> Dossier:
    return replace(case.found, records={**case.found.records, **{record.kind: record for record in records}})


async def _guarded(ctx: Collecting, case: CollectInput, by: Source, looking: Awaitable[list[Record]]) -> list[Record]:
    """The collector boundary: a bug in a collector is recorded as evidence of ours and never ends a run.

    One that never returns is a bug too, its wait for its turn left out.
    """
    try:
        async with limit_duration(ctx.settings.collector_timeout.total_seconds()):
            records = await _scrubbed(await looking)
        answered = sorted(record.kind for record in records)
        if answered != sorted(by.kinds):
            raise RuntimeError(f"{by.name} answered for {answered}, expected {sorted(by.kinds)}")
    except Exception as error:  # noqa: BLE001  the only one in the product (ARCHITECTURE.md)
        name = type(error).__name__
        ctx.log.error("collector_failed", server=case.server.id, collector=by.name, error=name, at=list_frames(error))
        return [_instead(ctx, case, by, kind, Absent(Reason.COLLECTOR_ERROR, name)) for kind in by.kinds]
    return records


def _instead(ctx: Collecting, case: CollectInput, by: Source, kind: str, failed: Absent) -> Record:
    """The record of a kind for a collector that failed: what it saw before, when it told when and that is not long ago.

    Only collectors that record what was seen before by themselves tell so; evidence of a server's own answers is of one
    night.
    """
    known = case.earlier.records.get(kind)
    record = _record(ctx, case, by, kind, failed)
    if (
        known is None
        or not isinstance(known.content, Observed)
        or not earlier_evidence.is_recent_record(known, ctx.clock.now())
    ):
        return record
    return replace(record, content=known.content, observation={**known.observation, "failed": failed.detail})


async def _scrubbed(records: Sequence[Record]) -> list[Record]:
    """The records without secrets; long ones are read in a thread, or the answers of other servers would wait."""
    bodies = sum(len(record.content.body) for record in records if isinstance(record.content, Observed))
    if bodies <= LONG_BODIES:
        return [scrub_record(record) for record in records]
    return await asyncio.to_thread(lambda: [scrub_record(record) for record in records])


def _record(
    ctx: Collecting, case: CollectInput, by: pins.VersionedCollector, kind: str, content: Observed | Absent
) -> Record:
    return Record(
        server=case.server.id,
        kind=kind,
        schema=schemas()[kind],
        collector=by.name,
        collector_version=by.version,
        observed_at=ctx.clock.now(),
        content=content,
        observation=read_carried_samples(case.earlier, kind),
    )
