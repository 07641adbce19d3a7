"""Scores a chunk of servers together; those with damage in the store alone, so that it stops no others."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from evidence.model import Run, ServerId
from evidence.store import CorruptBlob, LeaseTokens, Stage
from workers.context import Context
from workers.coordination.leases import Leases, log_refused
from workers.log import list_frames
from workers.progress import StageCounter
from workers.publication import finding_disclosure
from workers.stages import scorecards


async def score_chunk(
    ctx: Context, run: Run, chunk: Sequence[ServerId], counter: StageCounter, leases: Leases | None
) -> int:
    """Score the servers; return how many failed. Damage in the store stops only the server that it belongs to."""
    try:
        return await _score_together(ctx, run, chunk, counter, leases)
    except CorruptBlob:
        return sum([await _score_alone(ctx, run, server, counter, leases) for server in chunk])


async def _score_alone(ctx: Context, run: Run, server: ServerId, counter: StageCounter, leases: Leases | None) -> int:
    """Score a server, from its evidence alone when an earlier receipt is damaged; return 1 if that failed."""
    try:
        return await _score_together(ctx, run, [server], counter, leases)
    except CorruptBlob as error:
        ctx.log.error("stored_receipt_damaged", run=run.id, server=server, why=str(error))
    try:
        return await _score_together(ctx, run, [server], counter, leases, anew=True)
    except CorruptBlob as error:
        tokens = None if leases is None else leases.find_tokens([server])
        await _record_failed(ctx, run, server, error, tokens)
        counter.add(0, failed=1)
        return 1


async def _score_together(
    ctx: Context,
    run: Run,
    chunk: Sequence[ServerId],
    counter: StageCounter,
    leases: Leases | None,
    *,
    anew: bool = False,
) -> int:
    """Score the servers, or those of them that are leased; return how many failed."""
    if leases is None:
        tokens = await asyncio.to_thread(ctx.store.read_tokens, run.id, Stage.SCORE, chunk)
    else:
        tokens = leases.find_tokens(chunk)
    servers = list(tokens)
    judged = await asyncio.to_thread(scorecards.score_servers, ctx.store, run, servers, anew=anew)
    done = [server for server in servers if server not in judged.errors]
    await asyncio.to_thread(
        finding_disclosure.record_findings,
        ctx.store,
        run.id,
        judged.cards,
        tokens,
        dossiers=judged.dossiers,
        kept=judged.kept,
        same_findings=judged.same_findings,
    )
    if anew:
        await asyncio.to_thread(ctx.store.mend_scorecards, run.id, judged.cards)
    lost = await asyncio.to_thread(
        ctx.store.put_scorecards,
        run.id,
        judged.cards,
        done=done,
        kept=judged.kept,
        at=ctx.clock.wall(),
        tokens=tokens,
    )
    log_refused(ctx, run, Stage.SCORE, lost)
    ctx.log.info("servers_scored", run=run.id, scored=len(done) - len(lost), looked_up=judged.looked_up)
    for server, error in judged.errors.items():
        await _record_failed(ctx, run, server, error, tokens)
    counter.add(len(done) - len(lost), failed=len(judged.errors))
    return len(judged.errors)


async def _record_failed(
    ctx: Context, run: Run, server: ServerId, error: Exception, tokens: LeaseTokens | None
) -> None:
    ctx.log.error("scoring_failed", run=run.id, server=server, error=type(error).__name__, at=list_frames(error))
    why = f"{type(error).__name__}: {error}"
    await asyncio.to_thread(ctx.store.record_failure, run.id, server, Stage.SCORE, why, tokens=tokens)
