"""Hosts that do not answer get no requests for a while, and no server is judged by the silence of another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec.structs import replace
from redis.asyncio import Redis

from evidence.kinds import listing
from evidence.model import Absent, Dossier, Observed, Reason, Server, ServerRef
from evidence.store import Stage
from tests.servers.daemon import free_port
from tests.servers.valkey import valkey_server
from tests.stepping_clock import SteppingClock
from tests.workers.world import LISTING, NIGHT, ScriptedCollector, ScriptedRegistry, World, context, ref
from workers.context import Context
from workers.coordination import circuit_breaker, shared_circuit_breaker
from workers.coordination.circuit_breaker import MAX_POSTPONEMENTS, HostCircuitBreaker, LocalHostFailures
from workers.coordination.shared_circuit_breaker import SharedHostFailures
from workers.nightly import shards, steps
from workers.stages.routing import find_probed_host

RUN = "20261121T030000Z-nightly"
SILENT = Absent(Reason.TIMEOUT, "no answer")


@asynccontextmanager
async def _my_turn(name: str) -> AsyncIterator[bool]:
    yield True


def _on_one_host(number: int) -> ServerRef:
    one = ref(number)
    (target,) = one.targets
    return replace(one, targets=(replace(target, identifier=f"https://shared.example/{number}/mcp"),))


def _world(count: int, answer: Callable[[Server], Observed | Absent], others: int) -> tuple[World, ScriptedCollector]:
    collector = ScriptedCollector(answer)
    refs = [_on_one_host(number) for number in range(count)] + [ref(100 + number) for number in range(others)]
    return World([ScriptedRegistry("first", [refs])], [collector]), collector


@asynccontextmanager
async def _night(
    home: Path, count: int, answer: Callable[[Server], Observed | Absent], *, others: int = 1, write_batch: int = 50
) -> AsyncIterator[tuple[Context, SteppingClock, ScriptedCollector]]:
    world, collector = _world(count, answer, others)
    changes = {"host_failures": 3, "host_gap": 0.0, "retries": 0, "in_flight": 4, "write_batch": write_batch}
    async with context(home, world, registries=("first",), **changes) as ctx:
        ctx.clock = clock = SteppingClock(NIGHT)
        await steps.plan_due_runs(ctx, _my_turn)
        clock.step(timedelta(minutes=5))
        yield ctx, clock, collector


def test_servers_of_a_silent_host_are_probed_later(tmp_path: Path) -> None:
    async def main() -> None:
        async with _night(tmp_path, 20, lambda _: SILENT) as (ctx, clock, collector):
            host_failures = LocalHostFailures(clock, 3, ctx.settings.host_rest)
            await shards.collect_shard(ctx, RUN, Stage.PROBE, host_failures=host_failures)
            assert len(collector.probed) == 4, "three of the silent host, and the other one"
            assert len(ctx.store.list_pending_servers(RUN, Stage.COLLECT)) == 17
            assert ctx.store.count_due_servers(RUN, clock.wall()) == {Stage.SCORE: 4}

    asyncio.run(main())


def test_servers_behind_a_postponed_one_are_stored(tmp_path: Path) -> None:
    async def main() -> None:
        async with _night(tmp_path, 10, lambda _: SILENT, others=30, write_batch=1) as (ctx, clock, collector):
            host_failures = LocalHostFailures(clock, 3, ctx.settings.host_rest)
            async with asyncio.timeout(60):
                await shards.collect_shard(ctx, RUN, Stage.PROBE, host_failures=host_failures)
            assert len(collector.probed) == 33
            assert ctx.store.count_due_servers(RUN, clock.wall()) == {Stage.SCORE: 33}

    asyncio.run(main())


def test_no_server_is_unreachable_without_an_attempt_of_its_own(tmp_path: Path) -> None:
    async def main() -> None:
        async with _night(tmp_path, 20, lambda _: SILENT) as (ctx, clock, collector):
            host_failures = LocalHostFailures(clock, 3, ctx.settings.host_rest)
            for _ in range(MAX_POSTPONEMENTS + 1):
                await shards.collect_shard(ctx, RUN, Stage.PROBE, host_failures=host_failures)
                clock.step(ctx.settings.host_rest + timedelta(seconds=1))
            assert ctx.store.list_pending_servers(RUN, Stage.COLLECT) == []
            assert len(set(collector.probed)) == 21
            assert {why.reason for why in ctx.store.read_absences(RUN, listing.KIND).values()} == {Reason.TIMEOUT}

    asyncio.run(main())


def test_a_host_that_answers_again_is_forgiven(tmp_path: Path) -> None:
    async def main() -> None:
        well: list[bool] = []
        answer = lambda _: Observed(LISTING) if well else SILENT  # noqa: E731
        async with _night(tmp_path, 20, answer) as (ctx, clock, _):
            host_failures = LocalHostFailures(clock, 3, ctx.settings.host_rest)
            await shards.collect_shard(ctx, RUN, Stage.PROBE, host_failures=host_failures)
            well.append(True)
            clock.step(ctx.settings.host_rest + timedelta(seconds=1))
            await shards.collect_shard(ctx, RUN, Stage.PROBE, host_failures=host_failures)
            assert ctx.store.list_pending_servers(RUN, Stage.COLLECT) == []
            assert len(ctx.store.read_absences(RUN, listing.KIND)) == 4

    asyncio.run(main())


def test_an_outage_of_ours_neither_pauses_a_host_nor_forgives_it() -> None:
    async def main() -> None:
        host_failures = LocalHostFailures(SteppingClock(NIGHT), 2, timedelta(minutes=1))
        breaker = HostCircuitBreaker(None, SteppingClock(NIGHT), host_failures, timedelta(minutes=1))  # type: ignore[arg-type]
        server = Server(ref="https://a.example/mcp", name="a", targets=_on_one_host(1).targets)
        collector = ScriptedCollector(lambda _: Absent(Reason.COLLECTOR_OFFLINE))
        earlier = Dossier(server=server, as_of=NIGHT)
        offline = await collector.collect(server, earlier)
        collector.answer = lambda _: SILENT
        silent = await collector.collect(server, earlier)
        host = find_probed_host(server) or ""
        for records in (silent, offline, offline):
            await breaker.record_result(server, records)
            assert not await host_failures.is_paused(host)
        await breaker.record_result(server, silent)
        assert await host_failures.is_paused(host)

    asyncio.run(main())


def test_a_slow_or_refusing_server_is_no_silent_host(tmp_path: Path) -> None:
    async def main() -> None:
        refused = Absent(Reason.OAUTH_REQUIRED)
        async with _night(tmp_path, 20, lambda _: refused) as (ctx, _, collector):
            await shards.collect_shard(ctx, RUN, Stage.PROBE)
            assert len(collector.probed) == 21

    asyncio.run(main())


def test_processes_share_what_they_know_of_a_host_and_without_redis_each_knows_its_own() -> None:
    async def meet(one: SharedHostFailures, other: SharedHostFailures) -> tuple[bool, bool]:
        await one.record_failure("silent.example")
        await one.record_failure("silent.example")
        known = await one.is_paused("silent.example"), await other.is_paused("silent.example")
        await one.record_answer("silent.example")
        assert not await one.is_paused("silent.example")
        return known

    async def main(url: str) -> tuple[bool, bool]:
        clock = SteppingClock(NIGHT)
        async with Redis.from_url(url) as redis:
            one, other = (
                SharedHostFailures(redis, LocalHostFailures(clock, 2, timedelta(minutes=1))) for _ in range(2)
            )
            return await asyncio.wait_for(meet(one, other), 60)

    with valkey_server() as valkey:
        assert asyncio.run(main(valkey.url)) == (True, True)
    assert asyncio.run(main(f"redis://127.0.0.1:{free_port()}/0")) == (True, False)


def test_an_answer_forgets_the_failures_that_another_process_counted() -> None:
    async def main(url: str) -> bool:
        clock = SteppingClock(NIGHT)
        async with Redis.from_url(url) as redis:
            one, other = (
                SharedHostFailures(redis, LocalHostFailures(clock, 2, timedelta(minutes=1))) for _ in range(2)
            )
            await one.record_failure("silent.example")
            assert not await other.is_paused("silent.example")
            await other.record_answer("silent.example")
            await one.record_failure("silent.example")
            return await other.is_paused("silent.example")

    with valkey_server() as valkey:
        assert not asyncio.run(main(valkey.url))


@pytest.mark.parametrize("failures", [1, 2])
def test_only_failures_in_a_row_count(failures: int) -> None:
    async def main() -> None:
        host_failures = LocalHostFailures(SteppingClock(NIGHT), 3, timedelta(minutes=1))
        for _ in range(failures):
            await host_failures.record_failure("a.example")
        await host_failures.record_answer("a.example")
        await host_failures.record_failure("a.example")
        await host_failures.record_failure("b.example")
        assert not await host_failures.is_paused("a.example")

    asyncio.run(main())


def test_hosts_that_never_answer_take_a_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (circuit_breaker, shared_circuit_breaker):
        monkeypatch.setattr(module, "MAX_HOSTS", 3)

    async def main(url: str) -> tuple[list[bool], int, bool]:
        clock = SteppingClock(NIGHT)
        async with Redis.from_url(url) as redis:
            own = LocalHostFailures(clock, 1, timedelta(minutes=1))
            shared = SharedHostFailures(redis, own)
            for host in ("a", "b", "c", "a", "d"):
                await shared.record_failure(host)
            remembered = [await own.is_paused(host) for host in "abcd"]
            size = len(shared._failing)
            assert await shared.is_paused("b"), "Redis knows the host that this process forgot"
            await shared.record_answer("b")
            return remembered, size, await shared.is_paused("b")

    with valkey_server() as valkey:
        assert asyncio.run(main(valkey.url)) == ([True, False, True, True], 3, False)
