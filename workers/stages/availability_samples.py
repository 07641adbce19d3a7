"""Availability samples: attempts to connect to remotes between two runs (docs/decisions/0014)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from msgspec import Struct
from msgspec.structs import replace

from evidence.canonical import Json, sha256
from evidence.kinds import samples
from evidence.kinds.samples import Sample
from evidence.model import Dossier, Record, Server, ServerId, Target
from workers.concurrency import Halt, process_concurrently
from workers.opt_outs import load_opt_outs
from workers.stall_watch import StallWatch, StoodStill

if TYPE_CHECKING:
    from evidence.store import Store
    from workers.context import AvailabilitySampler, Context

JITTER: Final = 0.25
"""The interval of a server is up to this share longer or shorter; its id decides."""

_OVERLAP: Final = timedelta(days=1)


class SamplingResult(Struct, frozen=True):
    """Counts of one round: servers that were due, samples taken, and samples that failed."""

    due: int
    taken: int
    failed: int


async def sample_due_servers(ctx: Context, *, halt: Halt | None = None) -> SamplingResult:
    """Sample at most `light_batch` of the servers that are due, longest overdue first.

    Only servers of the configured registries are sampled, and none when `light_every` is 0. Samples older than their
    window are deleted.
    """
    if not ctx.settings.light_every:
        return SamplingResult(0, 0, 0)
    now = ctx.clock.now()
    await asyncio.to_thread(ctx.store.delete_probes, now - samples.WINDOW)
    registries = [registry.name for registry in await ctx.wiring.registries(ctx.settings.registry_names)]
    waiting = await asyncio.to_thread(_due, ctx, registries, now)
    feed = iter([waiting[: ctx.settings.light_batch]])
    sampler = await ctx.wiring.sampler()
    taken: list[Sample] = []

    async def pull() -> Sequence[Server]:
        return next(feed, ())

    async def take(server: Server) -> tuple[ServerId, Sample | None]:
        try:
            async with watch.visit():
                return server.id, await _sample(sampler, server)
        except StoodStill:
            return server.id, None

    async def write(found: Sequence[tuple[ServerId, Sample | None]]) -> None:
        await asyncio.to_thread(ctx.store.put_probes, found, ctx.clock.now())
        taken.extend(sample for _, sample in found if sample is not None)

    async with StallWatch(ctx.clock) as watch:
        await process_concurrently(
            pull,
            take,
            write,
            lanes=ctx.settings.in_flight,
            group=ctx.settings.write_batch,
            halt=halt or Halt(),
            grace=ctx.settings.stop_grace,
        )
    done = SamplingResult(len(waiting), len(taken), sum(bool(sample.failure) for sample in taken))
    ctx.log.info("availability_samples_taken", due=done.due, taken=done.taken, failed=done.failed)
    return done


def add_samples(store: Store, earlier: Mapping[ServerId, Dossier], now: datetime) -> Mapping[ServerId, Dossier]:
    """The earlier dossiers with the samples taken since added to their records."""
    known = {
        server: record.observed_at
        for server, dossier in earlier.items()
        if (record := dossier.records.get(samples.KIND)) is not None
    }
    # A sample may have been taken while the record of its run was made; duplicates count once.
    since = max(now - samples.WINDOW, min(known.values(), default=now) - _OVERLAP)
    between = store.read_samples(list(known), since)
    return {server: _extended(dossier, between.get(server, ())) for server, dossier in earlier.items()}


def read_carried_samples(earlier: Dossier, kind: str) -> Mapping[str, Json]:
    """The samples of the earlier record, kept when a collector failed to make a new one; empty for other kinds."""
    record = earlier.records.get(kind) if kind == samples.KIND else None
    return samples.write_samples(samples.read_samples(record.observation)) if record else {}


async def _sample(sampler: AvailabilitySampler, server: Server) -> Sample | None:
    """The sample of the first remote that connects, else that of the first remote."""
    taken: list[Sample | None] = []
    for target in server.targets:
        if target.type.is_remote:
            taken.append(await sampler.sample(target))
            if taken[-1] is not None and not taken[-1].failure:
                return taken[-1]
    return taken[0]


def _extended(dossier: Dossier, taken: Sequence[Sample]) -> Dossier:
    record = dossier.records.get(samples.KIND)
    if record is None or not taken:
        return dossier
    known = samples.read_samples(record.observation)
    longer: Record = replace(record, observation=samples.write_samples([*known, *taken]))
    return replace(dossier, records={**dossier.records, samples.KIND: longer})


def _due(ctx: Context, registries: Sequence[str], now: datetime) -> list[Server]:
    """Active servers with a remote that are due, longest overdue first."""
    last, opted_out = ctx.store.read_last_probe_times(), load_opt_outs(ctx.settings, ctx.store)
    never = now - samples.WINDOW
    servers = ctx.store.list_active_servers(registries)
    ready = [
        server
        for server in servers
        if _is_remote(server.targets)
        and opted_out.why(server) is None
        and last.get(server.id, never) + _interval(ctx, server.id) <= now
    ]
    return sorted(ready, key=lambda server: (last.get(server.id, never), server.id))


def _is_remote(targets: Sequence[Target]) -> bool:
    return bool(targets) and targets[0].type.is_remote


def _interval(ctx: Context, server: ServerId) -> timedelta:
    """The interval of one server: constant, and different between servers, so that they are not due together."""
    share = int(sha256(server.encode())[:8], 16) / 0xFFFFFFFF
    return ctx.settings.light_every * (1 + JITTER * (2 * share - 1))
