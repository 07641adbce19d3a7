"""A run is in the lists as soon as it is published; who opts out vanishes from it at once."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path

from msgspec.structs import replace
from sqlalchemy import text

from evidence.model import Observed
from evidence.store import ListingQuery, OptOut, OptOutScope, RunState, Store
from evidence.store.database import Database
from evidence.store.tables.listing import LISTING_EDITION, LISTING_ORDER, LISTING_SERVER
from scoring.engine import catalogue
from tests.workers.world import NIGHT, ScriptedCollector, ScriptedFollower, ScriptedRegistry, World, context, ref
from workers import embedded
from workers.context import Context
from workers.publication import listing_index
from workers.rescoring import score_run_again
from workers.runs.options import RunOptions
from workers.web.app import SiteServices

FIRST = RunOptions(registries=("first",), fresh=True)
OUT = OptOut(scope=OptOutScope.HOST, value="server-1.example", at=NIGHT, who="ann", note="by mail")


def world() -> World:
    followed = ScriptedFollower("source", lambda _: Observed(b"{}"))
    registry = ScriptedRegistry("first", [[ref(number) for number in range(3)]])
    return World([registry], [ScriptedCollector()], following=(followed,))


def with_store(tmp_path: Path, scenario: Callable[[Context], Awaitable[None]]) -> None:
    async def main() -> None:
        async with context(tmp_path, world()) as ctx:
            await scenario(ctx)

    asyncio.run(main())


async def run_of(ctx: Context) -> str:
    return (await embedded.run_embedded(ctx, FIRST)).run.id


def forget(store_url: str) -> None:
    """As if the run had been published by a version that knew no listing index."""
    database = Database(store_url)
    with database.writing() as connection:
        for table in (LISTING_EDITION, LISTING_SERVER, LISTING_ORDER):
            connection.execute(table.delete())
        connection.execute(text("DELETE FROM listing_text"))
    database.close()


def shown(store: Store) -> int | None:
    return store.listing.read_page(ListingQuery()).total


def test_a_published_run_is_in_the_lists_with_its_numbers(tmp_path: Path) -> None:
    async def scenario(ctx: Context) -> None:
        run = await run_of(ctx)
        page = ctx.store.listing.read_page(ListingQuery())
        assert (page.run, page.total) == (run, 3)
        front = ctx.store.listing.read_dashboard()
        assert front is not None
        assert front[1]["servers"] == 3
        row = ctx.store.find_run(run)
        assert row is not None
        assert row.state is RunState.PUBLISHED

    with_store(tmp_path, scenario)


def test_a_store_without_a_listing_index_gets_the_newest_run_once(tmp_path: Path) -> None:
    async def scenario(ctx: Context) -> None:
        await run_of(ctx)
        before = ctx.store.listing.read_page(ListingQuery()).servers
        forget(ctx.settings.store_url)
        assert shown(ctx.store) == 0
        assert listing_index.ensure_listing_index(ctx.settings, ctx.store)
        assert ctx.store.listing.read_page(ListingQuery()).servers == before
        assert not listing_index.ensure_listing_index(ctx.settings, ctx.store)

    with_store(tmp_path, scenario)


def test_what_was_scored_again_under_some_rubrics_is_not_what_the_site_shows(tmp_path: Path) -> None:
    async def scenario(ctx: Context) -> None:
        source = ctx.store.find_run(await run_of(ctx))
        assert source is not None
        before = ctx.store.listing.read_page(ListingQuery())
        score_run_again(ctx.store, source, rubrics=[catalogue.get_rubric("lint", 2)], wall=ctx.clock.wall)
        assert not listing_index.ensure_listing_index(ctx.settings, ctx.store)
        assert ctx.store.listing.read_page(ListingQuery()) == before
        again = score_run_again(ctx.store, source, wall=ctx.clock.wall)
        assert listing_index.ensure_listing_index(ctx.settings, ctx.store)
        assert ctx.store.listing.find_newest_run() == again.run.id

    with_store(tmp_path, scenario)


def test_a_store_without_runs_needs_no_listing_index(tmp_path: Path) -> None:
    async def scenario(ctx: Context) -> None:
        assert not listing_index.ensure_listing_index(ctx.settings, ctx.store)
        assert shown(ctx.store) == 0

    with_store(tmp_path, scenario)


def test_who_opts_out_vanishes_and_comes_back(tmp_path: Path) -> None:
    async def scenario(ctx: Context) -> None:
        await run_of(ctx)
        ctx.store.opt_outs.add_opt_out(OUT)
        listing_index.hide_opted_out(ctx.settings, ctx.store)
        assert shown(ctx.store) == 2
        await run_of(ctx)  # and the next night does not show it either
        assert shown(ctx.store) == 2
        ctx.store.opt_outs.revoke_opt_out(OUT.scope, OUT.value, at=NIGHT + timedelta(days=1), who="ben", note="")
        listing_index.hide_opted_out(ctx.settings, ctx.store)
        assert shown(ctx.store) == 3

    with_store(tmp_path, scenario)


def test_a_night_that_came_after_the_opt_out_hides_it_by_itself(tmp_path: Path) -> None:
    async def scenario(ctx: Context) -> None:
        ctx.store.opt_outs.add_opt_out(OUT)
        await run_of(ctx)
        assert shown(ctx.store) == 2

    with_store(tmp_path, scenario)


def test_a_changed_file_of_opt_outs_is_heeded_by_lists_without_a_publication(tmp_path: Path) -> None:
    async def scenario(ctx: Context) -> None:
        await run_of(ctx)
        listed = tmp_path / "opt-outs"
        backend = SiteServices(replace(ctx.settings, opt_outs=listed), ctx.store, ctx.clock)
        for at, (entry, left) in enumerate([("host: server-1.example", 2), ("", 3), ("host: *", 3), ("1.example", 3)]):
            listed.write_text(entry)
            os.utime(listed, (at, at))
            backend.mark("")
            assert shown(ctx.store) == left

    with_store(tmp_path, scenario)
