"""Failures while this machine is offline are its own; a dead server, or a dead host of many, stays unreachable."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

import pytest

from crawler.http import connectivity, engine
from crawler.http.address_guard import AddressGuard
from crawler.http.canaries import parse_canary
from crawler.http.connection import Limits
from crawler.http.connectivity import ConnectionHistory, OutageMonitor
from crawler.http.engine import HttpEngine, Request
from crawler.http.failures import TimedOut, Unreachable, WireFailure
from crawler.http.url import parse_url
from evidence.model import Reason
from tests.servers.daemon import free_port
from tests.servers.hostile import Call, serving

UNRELATED = tuple(f"https://mcp.server-{number}.example/mcp" for number in range(6))
ONE_HOST = tuple(f"https://tenant-{number}.dead.example/mcp" for number in range(20))


class Zone:
    """A resolver with the given names; all others do not exist."""

    def __init__(self, names: Mapping[str, Sequence[str]]) -> None:
        self.names = dict(names)
        self.asked: list[str] = []

    async def resolve(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        if host not in self.names:
            raise Unreachable("the host name does not resolve")
        return self.names[host]


class Machine:
    """An engine whose only canary is `canary.example`, and what its monitor reported."""

    def __init__(self, canary_port: int, names: Mapping[str, Sequence[str]]) -> None:
        self.reported: list[bool] = []
        self.zone = Zone(names)
        self.now = 0.0
        self.outages = OutageMonitor(
            [f"canary.example:{canary_port}"], self.zone, tick=lambda: self.now, report=self.reported.append
        )
        self.engine = HttpEngine(
            user_agent="test",
            guard=AddressGuard(allow_private=True),
            resolver=self.zone,
            limits=Limits(connect=10.0, first_byte=10.0, between_bytes=10.0),
            outages=self.outages,
        )

    @property
    def checks(self) -> int:
        return self.zone.asked.count("canary.example")

    async def ask(self, url: str, *, guard: AddressGuard | None = None) -> str:
        """`answered`, or the reason of the failure."""
        async with self.engine.open_session(guard=guard) as session:
            try:
                await session.fetch(Request("GET", parse_url(url)))
            except WireFailure as failure:
                return failure.absent().reason
        return "answered"

    async def ask_all(self, urls: Sequence[str]) -> list[str]:
        return [await self.ask(url) for url in urls]


async def answer(call: Call) -> None:
    await call.reply(200, b"{}")


@asynccontextmanager
async def online() -> AsyncIterator[Machine]:
    async with serving(answer) as url:
        yield Machine(int(url.split(":")[2].split("/")[0]), {"canary.example": ["127.0.0.1"]})


def offline(names: Mapping[str, Sequence[str]] | None = None) -> Machine:
    """The canary's name resolves, as it does from a cache, but nothing accepts its connections."""
    return Machine(free_port(), {"canary.example": ["127.0.0.1"], **(names or {})})


@pytest.fixture
def public_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    """Treat loopback addresses as addresses on the internet."""
    monkeypatch.setattr(engine, "classify_address", lambda address: "public")


def test_unrelated_names_that_stop_resolving_are_our_outage_from_the_first_on() -> None:
    machine = offline()

    assert asyncio.run(machine.ask_all(UNRELATED)) == [Reason.COLLECTOR_OFFLINE] * 6


def test_a_canary_whose_name_does_not_resolve_is_silent() -> None:
    machine = Machine(free_port(), {})

    assert asyncio.run(machine.ask(UNRELATED[0])) == Reason.COLLECTOR_OFFLINE


def test_dead_servers_stay_unreachable_while_a_canary_answers() -> None:
    async def run() -> list[str]:
        async with online() as machine:
            return await machine.ask_all(UNRELATED)

    assert asyncio.run(run()) == [Reason.UNREACHABLE] * 6


def test_a_registry_on_one_dead_host_stays_unreachable_after_another_host_answered() -> None:
    """One domain never raises doubt about an answer, so the canaries are not asked although they would be silent."""
    machine = offline()
    machine.outages.record_answer()

    assert asyncio.run(machine.ask_all(ONE_HOST)) == [Reason.UNREACHABLE] * 20
    assert machine.checks == 0


def test_three_unrelated_failures_raise_doubt_about_a_recent_answer() -> None:
    machine = offline()
    machine.outages.record_answer()
    machine.now = connectivity.DOUBT_SECONDS

    assert asyncio.run(machine.ask_all(UNRELATED)) == [Reason.UNREACHABLE] * 2 + [Reason.COLLECTOR_OFFLINE] * 4


def test_most_hosts_that_refuse_alike_are_our_outage(public_loopback: None) -> None:
    closed = free_port()
    machine = offline({f"server-{number}.example": ["127.0.0.1"] for number in range(4)})

    found = asyncio.run(machine.ask_all([f"http://server-{number}.example:{closed}/mcp" for number in range(4)]))

    assert found == [Reason.COLLECTOR_OFFLINE] * 4


@pytest.mark.parametrize("head", [b"", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"])
def test_an_answer_that_stops_when_the_network_does_is_our_outage(public_loopback: None, head: bytes) -> None:
    async def stall(call: Call) -> None:
        await call.send(head)
        await asyncio.sleep(2)

    async def run() -> tuple[str, str]:
        async with serving(stall) as url, online() as connected:
            alone = offline()
            alone.engine.limits = connected.engine.limits = Limits(first_byte=0.3, between_bytes=0.3)
            # The head of an answer counts as an answer for as long as it is trusted.
            alone.engine.outages = Late(alone.outages, alone)
            return await alone.ask(url), await connected.ask(url)

    assert asyncio.run(run()) == (Reason.COLLECTOR_OFFLINE, Reason.TIMEOUT)


class Late(OutageMonitor):
    """A monitor that is asked long after the last answer."""

    def __init__(self, outages: OutageMonitor, machine: Machine) -> None:
        self.outages = outages
        self.machine = machine

    def record_answer(self) -> None:
        self.outages.record_answer()

    async def is_offline(self, host: str) -> bool:
        self.machine.now += 60
        return await self.outages.is_offline(host)


def test_a_failure_at_a_private_address_is_never_our_outage() -> None:
    machine = offline({"intranet.example": ["127.0.0.1"]})
    closed = free_port()

    urls = [f"http://127.0.0.1:{closed}/mcp", f"http://intranet.example:{closed}/mcp"]

    assert asyncio.run(machine.ask_all(urls)) == [Reason.UNREACHABLE] * 2
    assert machine.checks == 0


@pytest.mark.parametrize(
    ("guard", "reason"),
    [(None, Reason.UNREACHABLE), (AddressGuard(allow_private=True), Reason.COLLECTOR_OFFLINE)],
)
def test_answers_of_the_operators_own_index_prove_no_internet_access(
    public_loopback: None, guard: AddressGuard | None, reason: Reason
) -> None:
    machine = offline()

    async def run() -> str:
        async with serving(answer) as url:
            assert await machine.ask(url, guard=guard) == "answered"
            return await machine.ask(UNRELATED[0])

    assert asyncio.run(run()) == reason


def test_answers_of_private_addresses_prove_no_internet_access() -> None:
    machine = offline()

    async def run() -> str:
        async with serving(answer) as url:
            assert await machine.ask(url) == "answered"
            return await machine.ask(UNRELATED[0])

    assert asyncio.run(run()) == Reason.COLLECTOR_OFFLINE


def test_failures_at_the_same_time_share_one_check() -> None:
    machine = offline()

    async def run() -> list[str]:
        return list(await asyncio.gather(*(machine.ask(url) for url in (*UNRELATED, *ONE_HOST))))

    assert set(asyncio.run(run())) == {Reason.COLLECTOR_OFFLINE}
    assert machine.checks == 1


def test_an_outage_is_reported_once_and_ends_with_the_next_answer(public_loopback: None) -> None:
    machine = offline()

    async def run() -> str:
        for url in UNRELATED:
            machine.now += 2 * connectivity.TRUST_SECONDS
            await machine.ask(url)
        async with serving(answer) as url:
            await machine.ask(url)
        return await machine.ask(UNRELATED[0])

    assert asyncio.run(run()) == Reason.UNREACHABLE
    assert machine.reported == [True, False]


def test_without_canaries_this_machine_is_never_offline() -> None:
    monitor = OutageMonitor([], Zone({}))

    assert not asyncio.run(monitor.is_offline("server.example"))


def test_the_detail_keeps_what_failed_and_the_kind_of_failure_stays() -> None:
    failure = TimedOut("no answer in time")
    failure.blame_collector()
    failure.blame_collector()

    assert (failure.absent().reason, failure.detail) == (
        Reason.COLLECTOR_OFFLINE,
        "this machine was offline: no answer in time",
    )
    assert TimedOut("another").reason is Reason.TIMEOUT


@pytest.mark.parametrize(
    ("failures", "after", "known"),
    [
        (["a.example"], 0.0, False),
        (["a.example"], connectivity.TRUST_SECONDS, None),
        (["a.example", "b.example"], connectivity.DOUBT_SECONDS, False),
        (["a.example", "b.example", "c.example"], connectivity.DOUBT_SECONDS, None),
        (["a.example"] * 9, connectivity.DOUBT_SECONDS, False),
    ],
)
def test_an_answer_decides_about_the_failures_shortly_after_it(
    failures: Sequence[str], after: float, known: bool | None
) -> None:
    history = ConnectionHistory()
    history.record_answer(100.0)

    assert [history.judge_failure(domain, 100.0 + after) for domain in failures][-1] is known


@pytest.mark.parametrize("text", ["", "http://a.example", "a.example/x", "user@a.example", "a.example:x"])
def test_a_canary_is_a_host_with_or_without_a_port(text: str) -> None:
    with pytest.raises(ValueError, match=r"HOST|[Pp]ort"):
        parse_canary(text)


def test_the_port_of_a_canary_defaults_to_https() -> None:
    assert [parse_canary(text) for text in ("a.example", "a.example:80", "[::1]:8080")] == [
        ("a.example", 443),
        ("a.example", 80),
        ("::1", 8080),
    ]
