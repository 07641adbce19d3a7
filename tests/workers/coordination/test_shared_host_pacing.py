"""One visitor per host among several processes, each with a courtesy of its own, on a real broker."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from datetime import date
from itertools import pairwise

import pytest
from redis.asyncio import Redis
from redis.asyncio.lock import Lock
from redis.exceptions import ConnectionError, TimeoutError  # noqa: A004

from crawler.http.deadlines import limit_duration
from tests.servers.daemon import free_port
from tests.servers.valkey import ValkeyServer, valkey_server
from workers.coordination import broker
from workers.coordination.broker import make_task_lock
from workers.coordination.shared_host_pacing import SharedHostPacing, open_shared_pool
from workers.coordination.shared_request_budgets import SharedRequestLedger
from workers.settings.environment import read_settings

GAP = 0.05


@pytest.fixture(scope="module")
def valkey() -> Iterator[ValkeyServer]:
    with valkey_server() as server:
        yield server


def _courtesy(redis: Redis, longest: float = 60.0) -> SharedHostPacing:
    return SharedHostPacing(redis, longest_visit=longest, gap=GAP)


def test_two_processes_never_visit_a_host_at_the_same_time(valkey: ValkeyServer) -> None:
    visits: list[tuple[float, float]] = []

    async def visit(courtesy: SharedHostPacing) -> None:
        loop = asyncio.get_running_loop()
        async with courtesy.reserve_host("busy.example"):
            began = loop.time()
            await asyncio.sleep(0.01)
            visits.append((began, loop.time()))

    async def main() -> None:
        async with Redis.from_url(valkey.url) as one, Redis.from_url(valkey.url) as other:
            await asyncio.gather(
                *(visit(courtesy) for courtesy in (_courtesy(one), _courtesy(other)) for _ in range(3))
            )

    asyncio.run(main())
    assert len(visits) == 6
    pauses = [later[0] - earlier[1] for earlier, later in pairwise(visits)]
    assert min(pauses) >= GAP * 0.9


def test_a_pause_that_a_host_asked_one_process_for_is_kept_by_the_others(valkey: ValkeyServer) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        async with Redis.from_url(valkey.url) as redis, asyncio.timeout(60):
            one, other = _courtesy(redis), _courtesy(redis)
            async with one.reserve_host("tired.example"):
                started = loop.time()
                one.defer("tired.example", 0.6)
            async with other.reserve_host("tired.example"):
                assert loop.time() - started >= 0.55

    asyncio.run(main())


def test_other_hosts_do_not_wait(valkey: ValkeyServer) -> None:
    async def main() -> None:
        async with Redis.from_url(valkey.url) as redis, asyncio.timeout(60):
            one, another = _courtesy(redis), _courtesy(redis)
            async with one.reserve_host("one.example"), another.reserve_host("another.example"):
                pass

    asyncio.run(main())


def test_the_host_of_a_dead_worker_is_free_again_soon(valkey: ValkeyServer) -> None:
    async def main() -> None:
        async with Redis.from_url(valkey.url) as redis:
            await redis.set("hallmark:host:left.example", "a dead worker", px=100)
            async with asyncio.timeout(60), _courtesy(redis).reserve_host("left.example"):
                assert await redis.get("hallmark:host:left.example") != b"a dead worker"

    asyncio.run(main())


def test_a_lease_that_became_anothers_is_left_alone(valkey: ValkeyServer) -> None:
    async def main() -> None:
        async with Redis.from_url(valkey.url) as redis:
            async with _courtesy(redis).reserve_host("slow.example"):
                await redis.set("hallmark:host:slow.example", "another")
            assert await redis.get("hallmark:host:slow.example") == b"another"

    asyncio.run(main())


def test_without_redis_a_process_is_polite_on_its_own() -> None:
    async def main() -> None:
        unreachable = Redis.from_url(f"redis://127.0.0.1:{free_port()}/0")
        async with unreachable, asyncio.timeout(60), _courtesy(unreachable).reserve_host("any.example"):
            pass

    asyncio.run(main())


def test_a_thousand_visits_at_once_are_all_shared(valkey: ValkeyServer) -> None:
    async def main() -> None:
        async with Redis.from_pool(open_shared_pool(valkey.url)) as redis, asyncio.timeout(60):
            courtesy, inside, everybody = _courtesy(redis, longest=60), 0, asyncio.Event()

            async def visit(number: int) -> None:
                nonlocal inside
                async with courtesy.reserve_host(f"many-{number}.example"):
                    inside += 1
                    if inside == 1_000:
                        everybody.set()
                    await everybody.wait()
                    held.append(await redis.exists(f"hallmark:host:many-{number}.example"))

            held: list[int] = []
            await asyncio.gather(*(visit(number) for number in range(1_000)))
            assert sum(held) == 1_000

    asyncio.run(main())


def test_a_broker_that_does_not_answer_holds_no_visit_for_long() -> None:
    async def main() -> None:
        async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read()
            writer.close()

        silent = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
        url = f"redis://127.0.0.1:{silent.sockets[0].getsockname()[1]}/0"
        pool = open_shared_pool(url)
        pool.connection_kwargs |= {"socket_timeout": 0.1, "socket_connect_timeout": 0.1}
        async with Redis.from_pool(pool) as redis, asyncio.timeout(60), _courtesy(redis).reserve_host("any.example"):
            pass
        silent.close()

    asyncio.run(main())


def test_waiting_for_a_silent_broker_is_no_time_of_the_server() -> None:
    async def main() -> None:
        async def say_nothing(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read()
            writer.close()

        silent = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
        pool = open_shared_pool(f"redis://127.0.0.1:{silent.sockets[0].getsockname()[1]}/0")
        pool.connection_kwargs |= {"socket_timeout": 1.0, "socket_connect_timeout": 1.0}
        async with Redis.from_pool(pool) as redis, asyncio.timeout(60):
            ledger = SharedRequestLedger(redis, tick=asyncio.get_running_loop().time)
            async with limit_duration(0.8):
                await ledger.totals(date(2026, 11, 22), ["host:any.example"])
                await ledger.settle()
                courtesy = _courtesy(redis)
                await courtesy._leave("hallmark:host:any.example", "token", 0.0)
        silent.close()

    asyncio.run(main())


def test_what_visits_share_never_waits_for_ever() -> None:
    options = open_shared_pool("redis://127.0.0.1/0").connection_kwargs
    assert 0 < options["socket_timeout"] < 10
    assert 0 < options["socket_connect_timeout"] < 10


def test_a_turn_is_one_process_at_a_time_and_free_afterwards(valkey: ValkeyServer) -> None:
    async def main() -> None:
        take = make_task_lock(read_settings(redis_url=valkey.url))  # type: ignore[arg-type]
        async with take("plan:x") as mine, take("plan:x") as theirs, take("plan:y") as other:
            assert (mine, theirs, other) == (True, False, True)
        async with take("plan:x") as again:
            assert again

    asyncio.run(main())


def test_a_turn_that_would_never_end_is_nobodys(valkey: ValkeyServer) -> None:
    async def main() -> None:
        async with Redis.from_url(valkey.url) as redis:
            await redis.set("hallmark:turn:plan:orphan", "left behind")
            async with make_task_lock(read_settings(redis_url=valkey.url))("plan:orphan") as mine:  # type: ignore[arg-type]
                assert mine
                assert await redis.pttl("hallmark:turn:plan:orphan") > 0

    asyncio.run(main())


def test_a_lock_is_renewed_again_after_an_error(valkey: ValkeyServer, monkeypatch: pytest.MonkeyPatch) -> None:
    errors, renewed = [ConnectionError("away"), TimeoutError("slow")], asyncio.Event()

    async def flaky(_: Lock) -> bool:
        if errors:
            raise errors.pop()
        renewed.set()
        return True

    async def main() -> None:
        async with make_task_lock(read_settings(redis_url=valkey.url))("plan:x") as mine:  # type: ignore[arg-type]
            assert mine
            await renewed.wait()

    monkeypatch.setattr(broker, "LOCK_SECONDS", 0.3)
    monkeypatch.setattr(Lock, "reacquire", flaky)
    asyncio.run(asyncio.wait_for(main(), 300))
