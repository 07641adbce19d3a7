"""Discovery, one registry at a time: page by page into the store, to be resumed after the last stored page."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from crawler.identity import canonical_ref, merge_references
from crawler.registries.registry import Page, Registry, RegistryUnavailable
from evidence.model import Run, Server, ServerId, ServerRef, server_id
from workers.concurrency import Halt, find_first_error
from workers.context import Context
from workers.progress import StageCounter


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryProgress:
    """How far the walk of one registry is in this run; `error` is for people."""

    registry: str
    entries: int
    invalid: int
    done: bool
    error: str | None = None


_WHOLE: Final = "whole"


@dataclass(frozen=True, slots=True)
class WalkPosition:
    """Where a walk goes on, and what it asks for: `since` stays what it was when the walk began.

    A registry's cursor belongs to the question that it was given for. Between two parts of a walk another run may
    finish and move the watermark, so both are stored together, in the walk's cursor.
    """

    since: datetime | None
    cursor: str | None = None

    def at(self, cursor: str | None) -> str | None:
        """As stored with the page before `cursor`; None after the last page."""
        return None if cursor is None else f"{self.since.isoformat() if self.since else _WHOLE} {cursor}"

    @classmethod
    def read(cls, stored: str) -> WalkPosition | None:
        """What `at` wrote; None for anything else."""
        began, separator, cursor = stored.partition(" ")
        if not separator:
            return None
        try:
            return cls(None if began == _WHOLE else datetime.fromisoformat(began), cursor)
        except ValueError:
            return None


async def walk_registries(
    ctx: Context, run: Run, sources: Sequence[str], halt: Halt, tally: StageCounter
) -> list[RegistryProgress]:
    """Walk every registry of this run that is not walked yet, at the same time, and say how far each is."""
    registries = await ctx.outside.registries(sources)
    walker = _Walker(ctx, run, halt, tally)
    try:
        async with asyncio.TaskGroup() as tasks:
            for registry in registries:
                tasks.create_task(walker.walk(registry))
    except ExceptionGroup as several:
        raise find_first_error(several) from several
    return await read_registry_progress(ctx, run, sources)


async def read_registry_progress(ctx: Context, run: Run, sources: Sequence[str]) -> list[RegistryProgress]:
    """How far the walk of every registry is, as stored."""
    registries = await ctx.outside.registries(sources)
    return [await asyncio.to_thread(_walked, ctx, run, registry.name) for registry in registries]


class _Walker:
    """Walks registries of one run; two that name the same server merge it one after the other."""

    def __init__(self, ctx: Context, run: Run, halt: Halt, tally: StageCounter) -> None:
        self._ctx = ctx
        self._run = run
        self._halt = halt
        self._tally = tally
        self._merging = asyncio.Lock()

    async def walk(self, registry: Registry) -> None:
        """Walk what is left of one registry; its failure is recorded, not raised."""
        store, run = self._ctx.store, self._run
        walk = await asyncio.to_thread(store.find_walk, run.id, registry.name)
        if walk.done:
            return
        try:
            await self._pages(registry, await self._bookmark(registry, walk.cursor))
        except RegistryUnavailable as error:
            self._ctx.log.warning("registry_unavailable", run=run.id, registry=registry.name)
            await asyncio.to_thread(
                store.record_walk_failure, run.id, registry.name, str(error), self._ctx.clock.wall()
            )
            self._tally.add(note=f"{registry.name}: {error}")

    async def _bookmark(self, registry: Registry, stored: str | None) -> WalkPosition:
        """Where the walk was left; the beginning, from the current watermark, when it stored no page."""
        left = WalkPosition.read(stored) if stored else None
        return left or WalkPosition(await asyncio.to_thread(self._ctx.store.find_watermark, registry.name))

    async def _pages(self, registry: Registry, bookmark: WalkPosition) -> None:
        async for page in registry.walk(cursor=bookmark.cursor, since=bookmark.since):
            async with self._merging:
                await asyncio.to_thread(_put_page, self._ctx, self._run, registry.name, page, bookmark)
            self._tally.add(len(page.refs))
            if self._halt.is_set() and page.cursor is not None:
                return
        await asyncio.to_thread(_finish, self._ctx, self._run, registry, bookmark.since)


def _put_page(ctx: Context, run: Run, registry: str, page: Page, bookmark: WalkPosition) -> None:
    pairs, cursor = _merged(ctx, page.refs), bookmark.at(page.cursor)
    ctx.store.put_registry_page(run.id, registry, pairs, cursor=cursor, done=page.cursor is None, at=ctx.clock.wall())


def _merged(ctx: Context, refs: Sequence[ServerRef]) -> list[tuple[Server, ServerRef]]:
    """Each ref with its server, which also keeps what other registries said of it."""
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
    """Retire what a walk over the whole registry did not see; the next one asks for what changed since this run.

    Nothing is retired when another run has finished since this walk began: what that one saw counts as unseen here.
    """
    name = registry.name
    whole = since is None or not registry.incremental
    alone = ctx.store.find_watermark(name) == since
    if whole and alone and (retired := ctx.store.mark_unseen_deleted(run.id, name)):
        ctx.log.info("entries_retired", run=run.id, registry=name, entries=retired)
    if not ctx.store.find_walk(run.id, name).done:
        ctx.store.put_registry_page(run.id, name, [], cursor=None, done=True, at=ctx.clock.wall())
    ctx.store.set_watermark(name, run.as_of)


def _walked(ctx: Context, run: Run, registry: str) -> RegistryProgress:
    walk = ctx.store.find_walk(run.id, registry)
    return RegistryProgress(
        registry=registry, entries=walk.entries, invalid=walk.invalid, done=walk.done, error=walk.error
    )
