"""One quota for several processes: together they never ask GitHub for more than it allows, on a real broker."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from itertools import pairwise
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from redis.asyncio import Redis

from crawler.collectors.repository.api.token_budgets import Denied, Granted, ReportedBudget, Resource, TokenBudgets
from crawler.collectors.repository.api.token_rotation import Token
from tests.crawler.collectors.repository.local_github import lively
from tests.servers import preloaded
from tests.servers.daemon import free_port
from tests.servers.github.server import Local, serve
from tests.servers.valkey import ValkeyServer, valkey_server
from workers.coordination import shared_github_quota
from workers.coordination.shared_github_quota import LocalShare, SharedGitHubBudgets

ROOT = Path(__file__).resolve().parents[3]
SECRET = "ghp_0123456789secret"
TOKEN = Token(1, SECRET).digest


@pytest.fixture(scope="module")
def broker() -> Iterator[ValkeyServer]:
    with valkey_server() as server:
        yield server


@pytest.fixture
def valkey(broker: ValkeyServer) -> ValkeyServer:
    async def empty() -> None:
        async with Redis.from_url(broker.url) as redis:
            await redis.flushall()

    asyncio.run(empty())
    return broker


def by(
    valkey: ValkeyServer,
    body: Callable[[TokenBudgets, TokenBudgets], Awaitable[None]],
    tick: Callable[[], float] = monotonic,
) -> None:
    """Run a body with the budgets of two processes, each with a connection of its own."""

    async def main() -> None:
        async with AsyncExitStack() as stack, asyncio.timeout(60):
            redis = [await stack.enter_async_context(Redis.from_url(valkey.url)) for _ in range(2)]
            await body(SharedGitHubBudgets(redis[0], tick), SharedGitHubBudgets(redis[1], tick))

    asyncio.run(main())


async def granted(budgets: TokenBudgets, cost: int = 1, resource: Resource = "core", pace: float = 0) -> Granted:
    found = await budgets.reserve(TOKEN, resource, cost, pace)
    assert isinstance(found, Granted), found
    return found


async def denied(budgets: TokenBudgets, cost: int = 1, resource: Resource = "core") -> float:
    found = await budgets.reserve(TOKEN, resource, cost, 0)
    assert isinstance(found, Denied), found
    return found.wait


async def settle_request(
    budgets: TokenBudgets, remaining: int, resets_in: float = 1800, one: Granted | None = None
) -> None:
    said = ReportedBudget(remaining=remaining, resets_in=resets_in)
    await budgets.settle(one or await granted(budgets), reported=said, spent=0, rest=0)


def test_while_nothing_is_known_one_request_goes_ahead_alone(valkey: ValkeyServer) -> None:
    async def body(one: TokenBudgets, other: TokenBudgets) -> None:
        first = await granted(one)
        assert 0 < await denied(other) <= 0.1
        await settle_request(one, 10, one=first)
        await granted(other)

    by(valkey, body)


def test_what_is_on_the_way_of_one_is_not_left_for_the_other(valkey: ValkeyServer) -> None:
    async def body(one: TokenBudgets, other: TokenBudgets) -> None:
        await settle_request(one, 3)
        await granted(one, cost=2)
        await granted(other)
        assert 1600 < await denied(other) <= 1800
        assert 1600 < await denied(one) <= 1800
        await granted(other, resource="graphql")

    by(valkey, body)


def test_a_limit_met_by_one_rests_the_token_for_all(valkey: ValkeyServer) -> None:
    async def body(one: TokenBudgets, other: TokenBudgets) -> None:
        await settle_request(one, 10)
        await one.settle(await granted(one), reported=None, spent=0, rest=60)
        assert 0 < await denied(other) <= 60
        assert 0 < await denied(other, resource="graphql") <= 60
        assert not await other.affords(TOKEN, "core", 1)

    by(valkey, body)


def test_requests_of_all_processes_keep_one_pace(valkey: ValkeyServer) -> None:
    async def body(one: TokenBudgets, other: TokenBudgets) -> None:
        await settle_request(one, 100)
        spans = []  # between which moments each may start: the answers take time too
        for budgets in (one, other, one, other):
            before = monotonic()
            starts_in = (await granted(budgets, pace=10)).starts_in
            spans.append((before + starts_in, monotonic() + starts_in))
        assert spans[0][0] < monotonic()
        for earlier, later in pairwise(spans):
            assert later[1] - earlier[0] >= 9.99
            assert later[0] - earlier[1] <= 10.01

    by(valkey, body)


def test_the_budget_comes_back_at_the_reset_and_is_unknown_then(valkey: ValkeyServer) -> None:
    async def body(one: TokenBudgets, other: TokenBudgets) -> None:
        await settle_request(one, 0, resets_in=3)
        wait = await denied(other)
        assert 0 < wait <= 3
        await asyncio.sleep(wait)  # the clock is that of the broker
        await granted(other)
        assert await denied(one) <= 0.1

    by(valkey, body)


def test_a_request_whose_process_died_counts_as_spent(valkey: ValkeyServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_github_quota, "_HOLD", 50)

    async def body(one: TokenBudgets, other: TokenBudgets) -> None:
        await settle_request(one, 3)
        await granted(one, cost=2)
        await asyncio.sleep(0.1)  # the clock is that of the broker
        assert await other.affords(TOKEN, "core", 1)
        assert not await other.affords(TOKEN, "core", 2)

    by(valkey, body)


def test_a_request_that_was_not_answered_counts_as_spent_and_one_not_sent_does_not(valkey: ValkeyServer) -> None:
    async def body(one: TokenBudgets, other: TokenBudgets) -> None:
        await settle_request(one, 2)
        await one.settle(await granted(one), reported=None, spent=1, rest=0)
        await one.settle(await granted(one), reported=None, spent=0, rest=0)
        assert await other.affords(TOKEN, "core", 1)
        assert not await other.affords(TOKEN, "core", 2)

    by(valkey, body)


def test_answers_of_the_window_before_do_not_spend_the_new_one(valkey: ValkeyServer) -> None:
    async def body(one: TokenBudgets, other: TokenBudgets) -> None:
        await settle_request(one, 10)
        late, later = await granted(one), await granted(one)
        await settle_request(other, 5000, resets_in=3600)
        await settle_request(one, 0, resets_in=1, one=late)
        assert await other.affords(TOKEN, "core", 4000)
        await settle_request(one, 4990, resets_in=3599, one=later)
        assert not await other.affords(TOKEN, "core", 4991)

    by(valkey, body)


def test_neither_a_token_nor_its_value_is_in_the_broker(valkey: ValkeyServer) -> None:
    async def body(one: TokenBudgets, _: TokenBudgets) -> None:
        await settle_request(one, 10)
        await granted(one)

    by(valkey, body)
    assert SECRET not in repr(asyncio.run(everything(valkey)))


async def everything(valkey: ValkeyServer) -> list[Any]:
    async with Redis.from_url(valkey.url, decode_responses=True) as redis:
        return [(key, await redis.dump(key)) async for key in redis.scan_iter()]


def test_hundreds_who_ask_at_once_need_few_connections(valkey: ValkeyServer) -> None:
    async def main() -> None:
        async with Redis.from_url(valkey.url, max_connections=5) as redis:
            budgets = SharedGitHubBudgets(redis)
            await settle_request(budgets, 1_000)
            found = await asyncio.gather(*(budgets.reserve(TOKEN, "core", 1, 0) for _ in range(500)))
            assert all(isinstance(one, Granted) and one.ticket for one in found)
            assert not await budgets.affords(TOKEN, "core", 501)

    asyncio.run(main())


def test_without_redis_each_process_has_a_share_of_what_github_says() -> None:
    async def main() -> None:
        async with Redis.from_url(f"redis://127.0.0.1:{free_port()}/0") as unreachable:
            alone = SharedGitHubBudgets(unreachable)
            first = await granted(alone)
            assert await denied(alone) <= 0.1
            await settle_request(alone, 808, one=first)
            assert await alone.affords(TOKEN, "core", 100)
            assert not await alone.affords(TOKEN, "core", 101)

    asyncio.run(main())


def test_shares_together_are_less_than_what_is_left() -> None:
    async def main() -> None:
        left, spent = 100, 0
        shares = [LocalShare(lambda: 0.0, 4) for _ in range(4)]
        while True:
            found = [await share.reserve(TOKEN, "core", 1, 0) for share in shares]
            if not any(isinstance(one, Granted) for one in found):
                break
            for share, one in zip(shares, found, strict=True):
                if isinstance(one, Granted):
                    spent += 1
                    await settle_request(share, left - spent, one=one)
        assert 0 < spent <= left

    asyncio.run(main())


def test_a_broker_that_comes_back_is_believed_after_github_was_asked(valkey: ValkeyServer) -> None:
    time = [0.0]

    async def body(one: TokenBudgets, other: TokenBudgets) -> None:
        await settle_request(one, 100)
        await settle_request(other, 99)
        await asyncio.to_thread(valkey.kill)
        await settle_request(other, 50)  # on its own
        await asyncio.to_thread(valkey.start)
        assert await other.affords(TOKEN, "core", 15)
        assert not await other.affords(TOKEN, "core", 25), "still on its own: half of 50"
        time[0] += 60
        first = await granted(other)
        assert await denied(one) <= 0.1, "no process uses the stale state in Redis"
        await settle_request(other, 49, one=first)
        assert not await one.affords(TOKEN, "core", 50)

    by(valkey, body, tick=lambda: time[0])


def read_by_processes(local: Local, valkey: ValkeyServer, names: list[str], processes: int) -> int:
    """How many repositories were read by so many processes at the same time."""
    command = [sys.executable, "-m", "tests.workers.github_user", local.api, valkey.url]
    running = [
        preloaded.Popen(
            [*command, *names[place::processes]],
            cwd=ROOT,
            env={"PATH": os.environ["PATH"], "HALLMARK_HOME": "/nonexistent"},
            stdout=subprocess.PIPE,
            text=True,
        )
        for place in range(processes)
    ]
    said = [process.communicate(timeout=300)[0].splitlines()[-1] for process in running]
    assert [process.returncode for process in running] == [0] * processes
    return sum(map(int, said))


def test_two_processes_with_one_token_never_ask_for_more_than_github_allows(valkey: ValkeyServer) -> None:
    names = [f"octo/r{place}" for place in range(24)]
    with serve() as local:
        local.world.tokens, local.world.latency = {"shared-token": 61}, 0.05
        local.world.add(*(lively(name) for name in names))
        read = read_by_processes(local, valkey, names, 2)
        asked = list(local.world.asked)
        left = local.world.quota("shared-token", "core").remaining
    assert {one.token for one in asked} == {"shared-token"}
    assert [one.status for one in asked if one.status in {403, 429}] == []
    assert left <= 1, "what GitHub allows is used"
    assert read > 0
