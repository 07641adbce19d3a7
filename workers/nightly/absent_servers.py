"""Records reasons of absence for servers that a nightly run ends without measuring."""

from __future__ import annotations

import asyncio

from msgspec.structs import replace

from evidence.model import Absent, Reason, Run, ServerId
from evidence.store import LeaseTokens, Stage
from workers import pipeline
from workers.concurrency import Halt
from workers.context import Context
from workers.stages import retries, server_collection
from workers.stages.collect_inputs import CollectInputReader
from workers.stages.server_collection import CollectedServer


async def record_pending_retries(ctx: Context, run: Run, halt: Halt) -> None:
    """Record the reason of absence of postponed servers, because the run ends before their next try.

    A few at a time, until `halt` is set.
    """
    sources, inputs = await pipeline.open_sources(ctx), CollectInputReader(ctx, run, Stage.COLLECT)
    limit, last = pipeline.SERVERS_PER_CHUNK, ""
    while not halt.is_set():
        waiting = await asyncio.to_thread(
            ctx.store.list_postponed_servers, run.id, retries.TRANSIENT_REASONS, limit=limit, after=last
        )
        if not waiting:
            return
        last = max(waiting)
        known = await asyncio.to_thread(
            inputs.read_inputs, await asyncio.to_thread(ctx.store.find_servers, sorted(waiting))
        )
        tokens = await asyncio.to_thread(ctx.store.read_tokens, run.id, Stage.COLLECT, list(known))
        collected = []
        for server, token in tokens.items():
            absent = Absent(Reason(waiting[server]), "the night ended before it was measured again")
            records = await server_collection.record_failed_server(ctx, sources, known[server], absent)
            collected.append(CollectedServer(server, records, None, token=token))
        await pipeline.store_collected(ctx, run, Stage.COLLECT, collected)


async def record_absent_servers(
    ctx: Context, run: Run, stage: Stage, tokens: LeaseTokens, why: Absent
) -> frozenset[ServerId]:
    """Record one reason of absence for all kinds of a stage.

    Nothing is stored of servers that were leased again after the lease in `tokens`; returns these servers.
    """
    sources, inputs = await pipeline.open_sources(ctx), CollectInputReader(ctx, run, stage)
    known = await asyncio.to_thread(inputs.read_inputs, await asyncio.to_thread(ctx.store.find_servers, list(tokens)))
    absent = [server_collection.record_stage_absent(ctx, sources, stage, one, why) for one in known.values()]
    return await pipeline.store_collected(ctx, run, stage, [replace(one, token=tokens[one.server]) for one in absent])
