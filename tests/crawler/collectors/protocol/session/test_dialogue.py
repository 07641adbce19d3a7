"""A server that answers only the second time is a success, in either era; one that never answers is asked twice."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from msgspec.structs import fields, replace

from crawler.collectors.protocol.probes.probe import ProbeDependencies
from crawler.collectors.protocol.samples.availability_sample import AvailabilitySampler
from crawler.collectors.protocol.session.dialogue import ProbeLimits
from crawler.http.address_guard import AddressGuard
from crawler.http.connection import Limits
from crawler.http.engine import HttpEngine
from crawler.http.rate_limiting import HostRateLimiter
from evidence.kinds.samples import Sample
from evidence.model import Absent, Observed, Reason, Record, Target, TargetType
from tests.crawler.collectors.protocol.probing import (
    AGENT,
    NOW,
    PROBE,
    Timekeeper,
    collector,
    probe,
    records_of,
    remote,
)
from tests.servers.hostile import Behaviour, Call, Mcp, serving
from workers.settings.environment import Settings

Fault = Callable[[Call], Awaitable[None]]


async def silent(call: Call) -> None:
    await asyncio.Event().wait()


async def dropped(call: Call) -> None:
    call.writer.close()


async def busy(call: Call) -> None:
    await call.reply(503)


class Waking:
    """Fails on the first question for each method of `failing`, then behaves."""

    def __init__(self, inner: Behaviour, fault: Fault, *failing: str) -> None:
        self.inner = inner
        self.fault = fault
        self.failing = set(failing)
        self.asked: list[str] = []

    async def __call__(self, call: Call) -> None:
        self.asked.append(call.method)
        if call.method in self.failing:
            self.failing.discard(call.method)
            await self.fault(call)
        else:
            await self.inner(call)


async def modern_only(call: Call) -> None:
    if call.method == "server/discover":
        result = {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {}, "serverInfo": {}}
        await call.result(result)
    else:
        await call.error(-32601, "Method not found", status=404)


def sampled(behaviour: Behaviour) -> Sample | None:
    hand = Timekeeper()
    limits = Limits(connect=2, first_byte=0.5, between_bytes=0.5, total=2)
    engine = HttpEngine(user_agent=AGENT, guard=AddressGuard(allow_private=True), limits=limits)
    courtesy = HostRateLimiter(tick=hand.tick, sleep=hand.sleep)
    means = ProbeDependencies(
        limiter=courtesy, clock=lambda: NOW, limits=ProbeLimits(discover=0.3, total=10), client_version="0"
    )

    async def run() -> Sample | None:
        async with serving(behaviour) as url:
            return await AvailabilitySampler(engine, means).sample(remote(url))

    return asyncio.run(run())


@pytest.mark.parametrize("fault", [silent, dropped, busy])
def test_a_legacy_server_that_answers_the_second_time_is_a_success(fault: Fault) -> None:
    server = Waking(Mcp(), fault, "server/discover", "initialize")
    sample = sampled(server)
    assert sample
    assert not sample.failure
    assert server.asked.count("initialize") == 2


@pytest.mark.parametrize("fault", [silent, dropped, busy])
def test_a_modern_server_that_answers_the_second_time_is_a_success(fault: Fault) -> None:
    server = Waking(modern_only, fault, "server/discover")
    sample = sampled(server)
    assert sample
    assert not sample.failure


def test_a_light_check_asks_no_lists() -> None:
    server = Waking(Mcp(), silent)
    sampled(server)
    assert server.asked == ["initialize", "notifications/initialized"]


@pytest.mark.parametrize(("fault", "failure"), [(silent, "timeout"), (dropped, "unreachable"), (busy, "5xx")])
def test_a_server_that_never_answers_is_asked_again_and_then_failed(fault: Fault, failure: str) -> None:
    asked: list[str] = []

    async def never(call: Call) -> None:
        asked.append(call.method)
        await fault(call)

    assert sampled(never) == Sample(at=NOW, failure=failure)
    assert asked.count("initialize") == 2


def test_a_first_byte_may_take_thirty_seconds() -> None:
    defaults = {field.name: field.default for field in fields(Settings)}
    assert defaults["first_byte_timeout"] == 30
    assert defaults["connect_timeout"] == 10
    assert ProbeLimits().retry_pause == defaults["retry_pause"] == 5


def test_the_nightly_probe_tries_again_too() -> None:
    record = probe(Waking(modern_only, busy, "server/discover"), prober=collector())
    assert record.observation["eras"] == ["modern"]


class SlowlyModern:
    """Speaks the modern era alone and says so to others; it takes its time for the question that opens that era."""

    def __init__(self, *seconds: float | None) -> None:
        self.seconds = list(seconds)

    async def __call__(self, call: Call) -> None:
        if call.method == "initialize":
            await call.error(-32022, "Unsupported protocol version", status=400)
            return
        if call.method == "server/discover":
            seconds = self.seconds.pop(0)
            await (asyncio.Event().wait() if seconds is None else asyncio.sleep(seconds))
        await modern_only(call)


def test_a_modern_server_that_is_slow_to_open_is_given_the_time_of_every_answer() -> None:
    hasty = replace(PROBE, discover=0.3)
    patient = collector(limits=hasty)
    record = probe(SlowlyModern(None, 3 * hasty.discover), prober=patient)
    assert isinstance(record.content, Observed)
    assert record.observation["eras"] == ["modern"]


def test_a_modern_server_that_never_opens_was_too_slow_and_is_no_stranger() -> None:
    record = probe(SlowlyModern(None, None), prober=collector(brisk=True))
    assert isinstance(record.content, Absent)
    assert record.content.reason is Reason.TIMEOUT


@pytest.mark.parametrize(("fault", "again"), [(silent, False), (dropped, True)])
def test_a_silent_address_is_not_asked_again_over_the_other_transport(fault: Fault, again: bool) -> None:
    """Half a minute of waiting twice is enough; a dropped connection is cheap to try over the other transport."""
    asked: list[str] = []

    async def never(call: Call) -> None:
        asked.append(call.method)
        await fault(call)

    async def run() -> dict[str, Record]:
        async with serving(never) as url:
            older = Target(type=TargetType.SSE, identifier=url)
            return await records_of(collector(brisk=True), remote(url), older)

    records = asyncio.run(run())
    assert isinstance(records["listing"].content, Absent)
    assert asked.count("initialize") == 2
    assert ("GET" in asked) is again
