"""What one process counted holds for all of them, on a real broker."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from redis.asyncio import Redis

from crawler.http.request_budgets import DailyAllowance, RequestBudgets, charge_requests_to
from evidence.model import Reason, Server, Target, TargetType
from tests.servers.daemon import free_port
from tests.servers.valkey import ValkeyServer, valkey_server
from workers.coordination.shared_request_budgets import SharedRequestLedger

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)


@pytest.fixture(scope="module")
def valkey() -> Iterator[ValkeyServer]:
    with valkey_server() as server:
        yield server


def server(name: str) -> Server:
    target = Target(type=TargetType.STREAMABLE_HTTP, identifier=f"https://{name}.example/mcp")
    return Server(ref=target.identifier, name=name, targets=(target,))


def budgets(ledger: SharedRequestLedger, now: datetime = NOON) -> RequestBudgets:
    return RequestBudgets(DailyAllowance(server=5), ledger, lambda: now)


def spend(of: RequestBudgets, on: Server, requests: int) -> None:
    with charge_requests_to(on.id):
        of.charge(f"{on.name}.example", requests)


def test_a_bound_that_others_reached_is_reached(valkey: ValkeyServer) -> None:
    async def main() -> None:
        one = server("one")
        async with Redis.from_url(valkey.url) as first, Redis.from_url(valkey.url) as second:
            mine, theirs = SharedRequestLedger(first, lambda: 0.0), SharedRequestLedger(second, lambda: 0.0)
            assert (
                await budgets(theirs).find_refusal(one) is None
            )  # known from now on, and refreshed when it counts itself
            spend(budgets(mine), one, 4)
            assert await budgets(mine).find_refusal(one) is None  # its own count is kept until it is flushed
            await mine.flush()
            spend(budgets(theirs), one, 1)
            await theirs.flush()
            why = await budgets(theirs).find_refusal(one)
            assert why is not None
            assert why.reason is Reason.NOT_COLLECTED
            newcomer = SharedRequestLedger(first, lambda: 0.0)
            assert await budgets(newcomer).find_refusal(one) == why
            assert await budgets(newcomer, NOON + timedelta(days=1)).find_refusal(one) is None

    asyncio.run(main())


def test_a_pause_that_one_process_was_asked_for_is_kept_by_all(valkey: ValkeyServer) -> None:
    async def main() -> None:
        two = server("two")
        async with Redis.from_url(valkey.url) as first, Redis.from_url(valkey.url) as second:
            mine, theirs = SharedRequestLedger(first, lambda: 0.0), SharedRequestLedger(second, lambda: 0.0)
            with charge_requests_to(two.id):
                budgets(mine).record_pause(3600)
            await mine.flush()
            await theirs.flush()
            why = await budgets(theirs).find_refusal(two)
            assert why is not None
            assert why.reason is Reason.RATE_LIMITED
            assert await budgets(theirs, NOON + timedelta(hours=2)).find_refusal(two) is None

    asyncio.run(main())


def test_those_who_begin_at_the_same_time_are_asked_about_together(valkey: ValkeyServer) -> None:
    async def main() -> None:
        async with Redis.from_url(valkey.url) as redis:
            ledger = SharedRequestLedger(redis, lambda: 0.0)
            before = await _hmgets(redis)
            servers = [server(f"many-{number}") for number in range(50)]
            assert await asyncio.gather(*(budgets(ledger).find_refusal(one) for one in servers)) == [None] * 50
            assert await _hmgets(redis) == before + 1

    asyncio.run(main())


def test_telling_waits_until_it_is_worth_it(valkey: ValkeyServer) -> None:
    async def main() -> None:
        three, now = server("three"), [100.0]
        async with Redis.from_url(valkey.url) as redis:
            ledger = SharedRequestLedger(redis, lambda: now[0])
            spend(budgets(ledger), three, 1)
            await ledger.settle()
            spend(budgets(ledger), three, 1)
            await ledger.settle()
            key = f"hallmark:spent:{NOON.date()}"
            assert await redis.hget(key, f"server:{three.id}") == b"1"
            now[0] += 2
            await ledger.settle()
            assert await redis.hget(key, f"server:{three.id}") == b"2"
            assert 0 < await redis.ttl(key) <= 2 * 86_400

    asyncio.run(main())


def test_without_redis_a_process_counts_on_its_own_and_loses_nothing() -> None:
    async def main() -> None:
        four = server("four")
        async with Redis.from_url(f"redis://127.0.0.1:{free_port()}/0") as unreachable:
            ledger = SharedRequestLedger(unreachable, lambda: 0.0)
            spend(budgets(ledger), four, 3)
            await ledger.flush()
            assert await budgets(ledger).find_refusal(four) is None
            spend(budgets(ledger), four, 3)
            assert await budgets(ledger).find_refusal(four) is not None

    asyncio.run(main())


async def _hmgets(redis: Redis) -> int:
    """How often the server was asked; it lists no command that no client has sent yet."""
    known = (await redis.info("commandstats")).get("cmdstat_hmget", {"calls": 0})
    return int(known["calls"])
