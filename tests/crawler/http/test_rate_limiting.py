"""One request at a time per host, with a gap, and no longer than asked."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from crawler.http.rate_limiting import HostRateLimiter, parse_retry_after
from tests.crawler.collectors.protocol.probing import Timekeeper

NOW = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)


def test_a_gap_lies_between_two_requests_to_a_host() -> None:
    time = Timekeeper()

    async def run() -> None:
        courtesy = HostRateLimiter(gap=0.6, tick=time.tick, sleep=time.sleep)
        for host in ("a", "a", "b", "a"):
            async with courtesy.request_slot(host):
                pass

    asyncio.run(run())
    assert time.slept == pytest.approx([0.6, 0.6])


def test_only_one_request_at_a_time_reaches_a_host() -> None:
    time = Timekeeper()
    inside: list[int] = []

    async def run() -> None:
        courtesy = HostRateLimiter(tick=time.tick, sleep=time.sleep)
        now = 0

        async def one() -> None:
            nonlocal now
            async with courtesy.request_slot("a"):
                now += 1
                inside.append(now)
                await asyncio.sleep(0)
                now -= 1

        await asyncio.gather(*(one() for _ in range(5)))

    asyncio.run(run())
    assert inside == [1] * 5


def test_only_one_visitor_at_a_time_is_at_a_host() -> None:
    order: list[str] = []

    async def run() -> None:
        courtesy = HostRateLimiter()

        async def probe(name: str, host: str) -> None:
            async with courtesy.reserve_host(host):
                order.append(f"{name} in")
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                order.append(f"{name} out")

        await asyncio.gather(probe("first", "a"), probe("second", "a"))

    asyncio.run(run())
    assert order == ["first in", "first out", "second in", "second out"]


@pytest.mark.parametrize(("asked", "waited"), [(5.0, 5.0), (3600.0, 30.0), (-3.0, 0.6)])
def test_retry_after_is_honoured_within_a_bound(asked: float, waited: float) -> None:
    time = Timekeeper()

    async def run() -> None:
        courtesy = HostRateLimiter(tick=time.tick, sleep=time.sleep)
        async with courtesy.request_slot("a"):
            courtesy.defer("a", asked)
        async with courtesy.request_slot("a"):
            pass

    asyncio.run(run())
    assert sum(time.slept) == pytest.approx(waited)


def test_the_map_of_hosts_does_not_grow_for_ever() -> None:
    time = Timekeeper()

    async def run() -> int:
        courtesy = HostRateLimiter(tick=time.tick, sleep=time.sleep)
        for number in range(20_000):
            async with courtesy.request_slot(f"host-{number}"):
                time.now += 1
        return courtesy.hosts

    assert asyncio.run(run()) <= 4096


def test_a_host_in_use_is_not_forgotten() -> None:
    time = Timekeeper()

    async def run() -> bool:
        courtesy = HostRateLimiter(tick=time.tick, sleep=time.sleep)
        async with courtesy.reserve_host("busy"):
            for number in range(10_000):
                async with courtesy.request_slot(f"host-{number}"):
                    time.now += 1
            waiter = asyncio.ensure_future(_enter(courtesy))
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            blocked = not waiter.done()
        await waiter
        return blocked

    assert asyncio.run(run())


async def _enter(courtesy: HostRateLimiter) -> None:
    async with courtesy.reserve_host("busy"):
        pass


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("120", 120.0), (" 0 ", 0.0), ("Sat, 21 Nov 2026 12:00:30 GMT", 30.0), ("Sat, 21 Nov 2026 11:00:00 GMT", 0.0),
        ("", None), ("soon", None), ("-5", None), ("1.5", None), ("٣", None), ("9" * 400, 999_999_999.0),
        ("Mon, 01 Jan 0001 00:00:00 +2359", 0.0), ("Fri, 99 Foo 99999 00:00:00 GMT", None),
    ],
)  # fmt: skip
def test_retry_after_is_read_in_both_forms(header: str, seconds: float | None) -> None:
    assert parse_retry_after(header, NOW) == seconds
