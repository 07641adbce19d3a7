"""Requests for a re-test: who may ask, how often, and what the report shows. No server is contacted."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from crawler.collector import Follower
from evidence.model import Run, Trigger
from evidence.store import RetestState, Store
from tests.workers.world import NIGHT, ScriptedRegistry, World, context, ref
from workers import pipeline
from workers.context import Context
from workers.retests import retest_requests
from workers.retests.retest_requests import Requester, RequesterRole, RetestAccepted, RetestRefusal, RetestRefused
from workers.runs.options import RunOptions

HOUR = timedelta(hours=1)


@asynccontextmanager
async def known(
    home: Path, count: int = 3, *, following: Sequence[Follower] = (), **changes: object
) -> AsyncIterator[tuple[Context, list[str]]]:
    """A store that knows some servers, and their ids."""
    world = World([ScriptedRegistry("first", [[ref(number) for number in range(count)]])], following=following)
    async with context(home, world, registries=("first",), **changes) as ctx:
        run = pipeline.start_run(ctx, Trigger.LOCAL, RunOptions(registries=("first",)))
        await pipeline.discover(ctx, run)
        yield ctx, ctx.store.list_planned_servers(run.id)


def ask(
    ctx: Context, server: str, who: str = "ann", standing: RequesterRole = RequesterRole.ANYONE
) -> RetestAccepted | RetestRefused:
    return retest_requests.request_retest(
        ctx.store, ctx.settings, NIGHT, server, retest_requests.identify_asker(ctx.settings, who, standing)
    )


def visited(store: Store, server: str, run_id: str = "20261121T030000Z-retest-1") -> None:
    """A re-test of the server took place at NIGHT."""
    store.add_run(Run(id=run_id, trigger=Trigger.RETEST, as_of=NIGHT, pins={}))
    (waiting,) = [one for one in store.retests.list_unfinished_retests() if one.server == server]
    assert store.retests.admit_retest(waiting.id, run_id, NIGHT)
    assert store.retests.finish_retest(waiting.id, RetestState.DONE, NIGHT)


def test_a_second_request_gets_the_open_one(tmp_path: Path) -> None:
    async def main() -> None:
        async with known(tmp_path) as (ctx, servers):
            first, second = ask(ctx, servers[0]), ask(ctx, servers[0], "ben")
            assert isinstance(first, RetestAccepted)
            assert isinstance(second, RetestAccepted)
            assert (first.again, second.again) == (False, True)
            assert first.retest == second.retest

    asyncio.run(main())


def test_only_a_registered_server_is_retested(tmp_path: Path) -> None:
    async def main() -> None:
        async with known(tmp_path) as (ctx, _):
            refused = ask(ctx, "0123456789abcdef")
            assert isinstance(refused, RetestRefused)
            assert refused.why is RetestRefusal.UNKNOWN_SERVER

    asyncio.run(main())


def test_a_client_may_not_ask_for_ever_and_others_still_may(tmp_path: Path) -> None:
    async def main() -> None:
        async with known(tmp_path, 4, retests_per_client=2) as (ctx, servers):
            asked = [ask(ctx, server) for server in servers[:3]]
            assert [isinstance(one, RetestAccepted) for one in asked] == [True, True, False]
            assert isinstance(asked[2], RetestRefused)
            assert asked[2].why is RetestRefusal.TOO_MANY
            assert isinstance(ask(ctx, servers[2], "ben"), RetestAccepted)
            assert isinstance(ask(ctx, servers[3], standing=RequesterRole.OPERATOR), RetestAccepted)

    asyncio.run(main())


@pytest.mark.parametrize(
    ("standing", "wait"),
    [
        (RequesterRole.ANYONE, HOUR),
        (RequesterRole.OWNER, timedelta(minutes=10)),
        (RequesterRole.OPERATOR, timedelta(0)),
    ],
)
def test_the_cooldown_depends_on_who_asks(tmp_path: Path, standing: RequesterRole, wait: timedelta) -> None:
    async def main() -> None:
        async with known(tmp_path) as (ctx, servers):
            ask(ctx, servers[0])
            visited(ctx.store, servers[0])
            asked = ask(ctx, servers[0], standing=standing)
            assert isinstance(asked, RetestAccepted)
            assert asked.ready_at == NIGHT + wait
            other = ask(ctx, servers[1], standing=standing)
            assert isinstance(other, RetestAccepted)
            assert other.ready_at == NIGHT

    asyncio.run(main())


def test_an_earlier_request_of_a_stranger_delays_no_owner(tmp_path: Path) -> None:
    async def main() -> None:
        async with known(tmp_path) as (ctx, servers):
            ask(ctx, servers[0])
            visited(ctx.store, servers[0])
            waits = [
                (RequesterRole.ANYONE, HOUR),
                (RequesterRole.OWNER, timedelta(minutes=10)),
                (RequesterRole.ANYONE, None),
            ]
            waits += [(RequesterRole.OPERATOR, timedelta(0)), (RequesterRole.OWNER, timedelta(0))]
            until = HOUR
            for number, (standing, wait) in enumerate(waits):
                asked = ask(ctx, servers[0], who=f"client {number}", standing=standing)
                assert isinstance(asked, RetestAccepted)
                until = until if wait is None else wait
                assert asked.ready_at == NIGHT + until
            assert len(ctx.store.retests.list_unfinished_retests()) == 1

    asyncio.run(main())


def test_clients_are_distinguished_and_not_stored(tmp_path: Path) -> None:
    async def main() -> None:
        async with known(tmp_path) as (ctx, servers):
            one, other = (retest_requests.identify_asker(ctx.settings, who) for who in ("203.0.113.9", "203.0.113.10"))
            assert one != other
            assert one == retest_requests.identify_asker(ctx.settings, "203.0.113.9")
            retest_requests.request_retest(ctx.store, ctx.settings, NIGHT, servers[0], one)
            (stored,) = ctx.store.retests.list_unfinished_retests()
            assert "203" not in stored.client
            assert stored.client == Requester(one.digest).client

    asyncio.run(main())


def test_an_unknown_request_has_no_report(tmp_path: Path) -> None:
    async def main() -> None:
        async with known(tmp_path) as (ctx, servers):
            assert retest_requests.report_retest(ctx.store, ctx.settings, "nothing") is None
            asked = ask(ctx, servers[0])
            assert isinstance(asked, RetestAccepted)
            report = retest_requests.report_retest(ctx.store, ctx.settings, asked.retest.id)
            assert report is not None
            assert (report.retest, report.comparisons) == (asked.retest, ())

    asyncio.run(main())
