"""Discovery: walks registries and stores their entries page by page; resumes after the last stored page."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from crawler.identity import canonical_ref, merge_references
from crawler.registries.registry import Page, Registry, RegistryUnavailable
from evidence.model import Run, Server, ServerId, ServerRef, server_id
from workers.concurrency import Halt, find_first_error
from workers.context import Context
from workers.progress import StageCounter


class RegistryProgress(Struct, frozen=True, kw_only=True):
    """The progress of one registry's walk in this run; `error` is for people."""

    registry: str
    entries: int
    invalid: int
    done: bool
    error: str | None = None


_WHOLE: Final = "whole"


class WalkPosition(Struct, frozen=True):
    """Where a walk continues: the registry's cursor, and the `since` of the query that the cursor belongs to.

    Another run may finish and move the watermark between two parts of a walk, so both are stored together.
    """

    since: datetime | None
    cursor: str | None = None

    def encode_next(self, cursor: str | None) -> str | None:
        """The position to store with the page before `cursor`; None after the last page."""
        return None if cursor is None else f"{self.since.isoformat() if self.since else _WHOLE} {cursor}"

    @classmethod
    def parse(cls, stored: str) -> WalkPosition | None:
        """The position that `encode_next` wrote; None for other text."""
        began, separator, cursor = stored.partition(" ")
        if not separator:
            return None
        try:
            return cls(None if began == _WHOLE else datetime.fromisoformat(began), cursor)
        except ValueError:
            return None


async def walk_registries(
    ctx: Context, run: Run, sources: Sequence[str], halt: Halt, counter: StageCounter
) -> list[RegistryProgress]:
    """Walk all registries that this run has not walked yet at the same time; return the progress of each."""
    registries = await ctx.wiring.registries(sources)
    walker = _Walker(ctx, run, halt, counter)
    try:
        async with asyncio.TaskGroup() as tasks:
            for registry in registries:
                tasks.create_task(walker.walk(registry))
    except ExceptionGroup as several:
        raise find_first_error(several) from several
    return await read_registry_progress(ctx, run, sources)


async def read_registry_progress(ctx: Context, run: Run, sources: Sequence[str]) -> list[RegistryProgress]:
    """The stored progress of every registry's walk."""
    registries = await ctx.wiring.registries(sources)
    return [await asyncio.to_thread(_walked, ctx, run, registry.name) for registry in registries]


class _Walker:
    """Walks registries of one run; pages are merged one at a time, because two registries may list the same server."""

    def __init__(self, ctx: Context, run: Run, halt: Halt, counter: StageCounter) -> None:
        self._ctx = ctx
        self._run = run
        self._halt = halt
        self._counter = counter
        self._merging = asyncio.Lock()

    async def walk(self, registry: Registry) -> None:
        """Walk the rest of one registry; its failure is recorded, not raised."""
        store, run = self._ctx.store, self._run
        walk = await asyncio.to_thread(store.find_walk, run.id, registry.name)
        if walk.done:
            return
        try:
            await self._pages(registry, await self._position(registry, walk.cursor))
        except RegistryUnavailable as error:
            self._ctx.log.warning("registry_unavailable", run=run.id, registry=registry.name)
            await asyncio.to_thread(
                store.record_walk_failure, run.id, registry.name, str(error), self._ctx.clock.wall()
            )
            self._counter.add(note=f"{registry.name}: {error}")

    async def _position(self, registry: Registry, stored: str | None) -> WalkPosition:
        """The stored position; without one the start, with the current watermark."""
        left = WalkPosition.parse(stored) if stored else None
        return left or WalkPosition(await asyncio.to_thread(self._ctx.store.find_watermark, registry.name))

    async def _pages(self, registry: Registry, position: WalkPosition) -> None:
        async for page in registry.walk(cursor=position.cursor, since=position.since):
            async with self._merging:
                await asyncio.to_thread(_put_page, self._ctx, self._run, registry.name, page, position)
            self._counter.add(len(page.refs))
            if self._halt.is_set() and page.cursor is not None:
                return
        await asyncio.to_thread(_finish, self._ctx, self._run, registry, position.since)


def _put_page(ctx: Context, run: Run, registry: str, page: Page, position: WalkPosition) -> None:
    pairs, cursor = _merged(ctx, page.refs), position.encode_next(page.cursor)
    ctx.store.put_registry_page(run.id, registry, pairs, cursor=cursor, done=page.cursor is None, at=ctx.clock.wall())


def _merged(ctx: Context, refs: Sequence[ServerRef]) -> list[tuple[Server, ServerRef]]:
    """Each entry with its server, merged with the entries of other registries."""
    by_id: dict[ServerId, list[ServerRef]] = {}
    for ref in refs:
        by_id.setdefault(server_id(canonical_ref(ref)), []).append(ref)
    known = ctx.store.find_refs(sorted(by_id))
    pairs: list[tuple[Server, ServerRef]] = []
    for identity, fresh in by_id.items():
        earlier = [ref for ref in known.get(identity, ()) if server_id(canonical_ref(ref)) == identity]
        latest = {(ref.registry, ref.name): ref for ref in [*earlier, *fresh]}
        server = merge_references([latest[key] for key in sorted(latest)])
        pairs += [(server, ref) for ref in fresh]
    return pairs


def _finish(ctx: Context, run: Run, registry: Registry, since: datetime | None) -> None:
    """Retire entries that a walk of the whole registry did not see, and set the watermark of the next walk.

    Nothing is retired when another run has finished since this walk began: its entries would count as unseen.
    """
    name = registry.name
    whole = since is None or not registry.incremental
    is_only_run = ctx.store.find_watermark(name) == since
    if whole and is_only_run and (retired := ctx.store.mark_unseen_deleted(run.id, name)):
        ctx.log.info("entries_retired", run=run.id, registry=name, entries=retired)
    if not ctx.store.find_walk(run.id, name).done:
        ctx.store.put_registry_page(run.id, name, [], cursor=None, done=True, at=ctx.clock.wall())
    ctx.store.set_watermark(name, run.as_of)


def _walked(ctx: Context, run: Run, registry: str) -> RegistryProgress:
    walk = ctx.store.find_walk(run.id, registry)
    return RegistryProgress(
        registry=registry, entries=walk.entries, invalid=walk.invalid, done=walk.done, error=walk.error
    )
