"""Publishes a run in parts, which any number of workers take, one after the other (docs/decisions/0028)."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Final

from evidence.model import Run
from evidence.store import CorruptBlob, RunEvent
from evidence.store.runs.publication_parts import PublicationPart
from publish.publication import manifest
from publish.publication.part_writer import PartWriter, join_parts
from workers.concurrency import Halt
from workers.context import Context
from workers.coordination.leases import keep_renewed
from workers.log import list_frames
from workers.stages import scorecards

_POLL_SECONDS: Final = 0.5


async def write_parts(ctx: Context, run: Run, halt: Halt) -> None:
    """Write parts of a run until no free part is left or `halt` is set."""
    writer = await asyncio.to_thread(PartWriter, ctx.store, run)
    while not halt.is_set():
        part = await _lease(ctx, run)
        if part is None:
            return
        until = ctx.clock.monotonic() + ctx.settings.shard_time.total_seconds()
        try:
            async with keep_renewed(ctx, partial(_renew, ctx, part, until), run=run.id, part=part.number):
                is_written = await asyncio.to_thread(_write, ctx, run, writer, part)
        except Exception as error:
            what = {"server": writer.server, "error": type(error).__name__, "at": list_frames(error)}
            ctx.log.error("publication_part_failed", run=run.id, part=part.number, **what)
            raise
        if not is_written:
            ctx.log.warning("results_of_lost_leases_refused", run=run.id, part=part.number)


async def write_all_parts(ctx: Context, run: Run, halt: Halt) -> bool:
    """Write parts, and wait for those that others write, until all are done; False if `halt` was set before.

    False also when the run has changed its state meanwhile, which drops its parts.
    """
    while not halt.is_set():
        await write_parts(ctx, run, halt)
        progress = await asyncio.to_thread(ctx.store.publication.read_progress, run.id)
        if progress.is_done or not progress.parts:
            return progress.is_done
        await asyncio.sleep(_POLL_SECONDS)
    return False


def _write(ctx: Context, run: Run, writer: PartWriter, part: PublicationPart) -> bool:
    """Write a part; a damaged receipt in it is first made again from the evidence of its server."""
    try:
        return writer.write(part)
    except CorruptBlob as error:
        mended = scorecards.mend_receipts(ctx.store, run, part.servers)
        ctx.log.error("stored_receipt_damaged", run=run.id, part=part.number, why=str(error), mended=mended)
        if not mended:
            raise
        return writer.write(part)


async def _lease(ctx: Context, run: Run) -> PublicationPart | None:
    ttl = ctx.settings.lease_ttl
    return await asyncio.to_thread(ctx.store.publication.lease, run.id, ttl=ttl, now=ctx.clock.wall())


async def _renew(ctx: Context, part: PublicationPart, until: float) -> bool:
    """Renew the lease of a part; a thread that still writes it after `until` hangs, and another worker may write it."""
    if ctx.clock.monotonic() > until:
        ctx.log.error("publication_part_hangs", run=part.run, part=part.number)
        return False
    ttl = ctx.settings.lease_ttl
    return await asyncio.to_thread(ctx.store.publication.renew, part, ttl=ttl, now=ctx.clock.wall())


def publish_parts(ctx: Context, run: Run, by: RunEvent | None) -> bool:
    """Join the finished parts and mark the run published; False if it was stopped or published meanwhile.

    Raise IllegalRunChange when an operator (`by`) publishes a run that was.
    """
    edition = ctx.store.publication.find_edition(run.id)
    if edition is None or not ctx.store.publication.read_progress(run.id).is_done:
        return False
    front = join_parts(ctx.store, run)
    made = manifest.make_manifest(ctx.store, run.id)
    ctx.store.publication.complete_listing(edition, front)
    return ctx.store.publish_run(run.id, made, ctx.clock.wall(), by, edition=edition)
