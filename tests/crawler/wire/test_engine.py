"""The engine dials only vetted addresses, reuses connections, and reads what servers send."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest

from crawler.http.address_guard import AddressGuard
from crawler.http.connection import Connection, Limits
from crawler.http.engine import FetchedResponse, HttpEngine, Request
from crawler.http.failures import BlockedAddress, BudgetSpent, InvalidTarget, TimedOut, Unreachable, WireFailure
from crawler.http.resolver import AcceptingAddresses, DnsResolver, RecentAnswers, SystemResolver
from crawler.http.url import Origin, parse_url
from tests.servers.hostile import Behaviour, Call, serving
from tests.stepping_clock import SteppingClock

AGENT = "Hallmark/0 (+https://hallmark.example/bot)"


class Names:
    """A resolver that answers each look-up with the next of the given answers, the last one for ever."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def resolve(self, host: str) -> Sequence[str]:
        self.asked.append(host)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def engine(resolver: object = None, *, private: bool = True, **limits: float) -> HttpEngine:
    chosen = Limits(**limits)  # type: ignore[arg-type]
    return HttpEngine(user_agent=AGENT, guard=AddressGuard(allow_private=private), resolver=resolver, limits=chosen)  # type: ignore[arg-type]


def fetch(behaviour: Behaviour, request: str = "GET", *, times: int = 1, path: str = "") -> list[FetchedResponse]:
    async def run() -> list[FetchedResponse]:
        async with serving(behaviour) as url, engine().open_session() as visit:
            return [await visit.fetch(Request(request, parse_url(url + path))) for _ in range(times)]

    return asyncio.run(run())


def failure(url: str, client: HttpEngine, *headers: tuple[str, str]) -> WireFailure:
    async def run() -> None:
        async with client.open_session() as visit:
            await visit.fetch(Request("GET", parse_url(url), headers))

    with pytest.raises(WireFailure) as caught:
        asyncio.run(run())
    return caught.value


async def echo(call: Call) -> None:
    head = f"{call.verb} {call.path}\n" + "\n".join(f"{name}={value}" for name, value in sorted(call.headers.items()))
    await call.reply(200, head.encode(), kind="text/plain")


def test_the_request_names_host_agent_and_encodings() -> None:
    [answer] = fetch(echo, path="/a%20b?q=%C3%A9")

    lines = answer.body.decode().splitlines()
    assert lines[0] == "GET /mcp/a%20b?q=%C3%A9"
    assert "accept-encoding=gzip, identity" in lines
    assert f"user-agent={AGENT}" in lines
    assert any(line.startswith("host=127.0.0.1:") for line in lines)


@pytest.mark.parametrize("answer", [["127.0.0.1"], ["8.8.8.8", "10.0.0.1"], ["169.254.169.254"], ["::ffff:127.0.0.1"]])
def test_a_name_with_a_private_answer_is_never_dialled(answer: list[str]) -> None:
    async def run() -> int:
        dialled = 0

        async def behave(call: Call) -> None:
            nonlocal dialled
            dialled += 1
            await call.reply()

        async with serving(behave) as url:
            port = url.split(":")[2].split("/")[0]
            async with engine(Names(answer), private=False).open_session() as visit:
                with pytest.raises(BlockedAddress):
                    await visit.fetch(Request("GET", parse_url(f"http://rebind.example:{port}/")))
        return dialled

    assert asyncio.run(run()) == 0


def test_rebinding_between_look_ups_is_vetted_again() -> None:
    """The first answer is allowed, the second is not: each connection vets the very addresses that it dials."""
    names = Names(["127.0.0.1"], ["169.254.169.254"])

    first = failure("http://rebind.example:1/", engine(names))
    second = failure("http://rebind.example:1/", engine(names))

    assert isinstance(first, Unreachable)
    assert isinstance(second, BlockedAddress)
    assert names.asked == ["rebind.example"] * 2


def test_a_name_is_resolved_once_per_connection() -> None:
    names = Names(["127.0.0.1"])

    async def run() -> None:
        async with serving(echo) as url, engine(names).open_session() as visit:
            port = url.split(":")[2].split("/")[0]
            for _ in range(3):
                answer = await visit.fetch(Request("GET", parse_url(f"http://fixture.example:{port}/")))
                assert f"host=fixture.example:{port}" in answer.body.decode()

    asyncio.run(run())
    assert names.asked == ["fixture.example"]


def test_a_host_with_several_servers_is_looked_up_once() -> None:
    names = Names(["127.0.0.1"], ["169.254.169.254"])

    async def run() -> None:
        client = engine(names)
        async with serving(echo) as url:
            for path in ("one", "two"):
                async with client.open_session() as visit:
                    await visit.fetch(Request("GET", parse_url(f"{url.replace('127.0.0.1', 'shared.example')}/{path}")))

    asyncio.run(run())
    assert names.asked == ["shared.example"]


def test_a_name_whose_addresses_accept_no_connection_is_looked_up_again_and_vetted() -> None:
    names = Names(["127.0.0.1"], ["169.254.169.254"])
    client = engine(names)

    assert isinstance(failure("http://moved.example:1/", client), Unreachable)
    assert isinstance(failure("http://moved.example:1/", client), BlockedAddress)
    assert names.asked == ["moved.example"] * 2


def test_a_name_is_looked_up_again_after_half_a_minute_and_few_answers_are_kept() -> None:
    clock, names = SteppingClock(datetime(2026, 11, 21, tzinfo=UTC)), Names(["192.0.2.1"], ["192.0.2.2"])
    recent = RecentAnswers(names, clock.monotonic)

    def look_up(host: str) -> Sequence[str]:
        return asyncio.run(recent.resolve(host))

    assert look_up("host.example") == ["192.0.2.1"]
    clock.step(timedelta(seconds=29.9))
    assert look_up("host.example") == ["192.0.2.1"]
    clock.step(timedelta(seconds=0.2))
    assert look_up("host.example") == ["192.0.2.2"]

    async def look_up_many() -> None:
        for number in range(5000):
            await recent.resolve(f"host{number}.example")

    asyncio.run(look_up_many())
    names.asked.clear()
    look_up("host0.example")
    look_up("host4999.example")
    assert names.asked == ["host0.example"]


def test_the_address_that_accepted_a_connection_is_the_first_to_be_tried_from_then_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names, dialled = Names(["127.0.0.2", "127.0.0.1"]), list[str]()
    dial = HttpEngine._dial

    async def watched(self: HttpEngine, origin: Origin, address: str, limits: Limits) -> Connection:
        dialled.append(address)
        return await dial(self, origin, address, limits)

    monkeypatch.setattr(HttpEngine, "_dial", watched)

    async def run() -> None:
        shared = engine(names)
        async with serving(echo) as url:
            for host in ("fixture.example", "fixture.example", "other.example"):
                async with shared.open_session() as visit:
                    await visit.fetch(Request("GET", parse_url(url.replace("127.0.0.1", host))))

    asyncio.run(run())
    assert dialled == ["127.0.0.2", "127.0.0.1", "127.0.0.1", "127.0.0.2", "127.0.0.1"]


def test_an_address_is_preferred_only_while_the_name_has_it() -> None:
    origin, accepting = parse_url("https://fixture.example/").origin, AcceptingAddresses()
    accepting.record(origin, "192.0.2.2")

    assert accepting.arrange(origin, ["192.0.2.1", "192.0.2.2", "192.0.2.3"]) == ["192.0.2.2", "192.0.2.1", "192.0.2.3"]
    assert accepting.arrange(origin, ["192.0.2.1", "192.0.2.3"]) == ["192.0.2.1", "192.0.2.3"]


def test_preferred_addresses_are_forgotten_from_the_oldest_on() -> None:
    accepting = AcceptingAddresses()
    for number in range(5000):
        accepting.record(parse_url(f"https://host{number}.example/").origin, "192.0.2.1")

    assert len(accepting._origins) == 4096
    assert parse_url("https://host0.example/").origin not in accepting._origins


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1/", "http://127.1/", "http://2130706433/", "http://0x7f.1/", "http://0/", "http://[::1]/",
     "http://[::ffff:7f00:1]/", "http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/", "http://169.254.169.254/",
     "http://localhost/", "http://LOCALHOST./", "http://8.8.8.8:22/", "http://8.8.8.8:6379/", "http://[fe80::1]/"],
)  # fmt: skip
def test_no_spelling_of_a_private_address_is_dialled(url: str) -> None:
    assert isinstance(failure(url, engine(SystemResolver(), private=False, connect=5.0)), BlockedAddress)


@pytest.mark.parametrize("resolver", [SystemResolver(), DnsResolver()])
def test_localhost_resolves_with_both_resolvers(resolver: SystemResolver | DnsResolver) -> None:
    async def run() -> Sequence[str]:
        found = await resolver.resolve("localhost")
        if isinstance(resolver, DnsResolver):
            await resolver.close()
        return found

    assert set(asyncio.run(run())) <= {"127.0.0.1", "::1"}


def test_a_resolver_that_hangs_is_a_timeout() -> None:
    class Hanging:
        async def resolve(self, host: str) -> Sequence[str]:
            await asyncio.sleep(30)
            return []

    found = failure("http://slow.example/", engine(Hanging(), connect=0.1))

    assert isinstance(found, TimedOut)
    assert not found.connected


def test_a_name_without_addresses_is_unreachable() -> None:
    assert isinstance(failure("http://none.example/", engine(Names([]))), Unreachable)


@pytest.mark.parametrize(
    "header", [("x", "a\r\nInjected: 1"), ("x y", "a"), ("x", "caf\u2713"), ("", "a"), ("x", "\0")]
)
def test_a_header_that_would_inject_is_refused(header: tuple[str, str]) -> None:
    assert isinstance(failure("http://127.0.0.1:1/", engine(), header), InvalidTarget)


def test_a_line_end_in_a_url_does_not_inject() -> None:
    assert "\r" not in parse_url("http://example.com/a\r\nInjected:%201").target
    assert " " not in parse_url("http://example.com/a b?c d").target


def test_one_connection_serves_one_visit() -> None:
    peers: set[object] = set()

    async def behave(call: Call) -> None:
        peers.add(call.writer.get_extra_info("peername"))
        await call.reply(200, b"{}")

    fetch(behave, times=5)

    assert len(peers) == 1


def test_an_idle_connection_that_the_server_closed_is_replaced() -> None:
    async def behave(call: Call) -> None:
        await call.reply(200, b"{}")
        call.writer.close()

    assert [answer.body for answer in fetch(behave, times=3)] == [b"{}"] * 3


def test_bytes_that_are_not_http_behind_the_end_of_an_answer_do_not_delay_it() -> None:
    async def behave(call: Call) -> None:
        await call.send(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab")
        await asyncio.sleep(0.05)
        await call.send(b"cdef")

    assert fetch(behave)[0].body == b"abcd"


def test_bytes_after_the_answer_do_not_become_the_next_answer() -> None:
    async def behave(call: Call) -> None:
        first = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ntrue"
        await call.send(first + (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nsplit" if call.turn == 1 else b""))

    assert [answer.body for answer in fetch(behave, times=2)] == [b"true", b"true"]


def test_a_head_request_has_no_body() -> None:
    async def behave(call: Call) -> None:
        await call.send(b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n")

    assert [answer.body for answer in fetch(behave, "HEAD", times=2)] == [b"", b""]


def test_a_body_may_end_with_the_connection() -> None:
    async def behave(call: Call) -> None:
        await call.send(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\nall of it")
        call.writer.close()

    [answer] = fetch(behave)
    assert (answer.status, answer.body) == (200, b"all of it")


def test_trailers_and_extensions_are_dropped() -> None:
    async def behave(call: Call) -> None:
        await call.send(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nCookie: a\r\n\r\n"
        )

    [answer] = fetch(behave)
    assert answer.body == b"abcde"
    assert answer.head.get("cookie") == ""


def test_a_visit_has_a_total_deadline() -> None:
    """What ends with our time is no failure of the server."""

    async def behave(call: Call) -> None:
        await asyncio.sleep(0.15)
        await call.reply(200, b"{}")

    async def run() -> int:
        done = 0
        async with serving(behave) as url, engine().open_session(seconds=0.4) as visit:
            with pytest.raises(BudgetSpent, match="the time for one server was over"):
                while True:
                    await visit.fetch(Request("GET", parse_url(url)))
                    done += 1
            with pytest.raises(BudgetSpent):
                await visit.fetch(Request("GET", parse_url(url)))
        return done

    assert asyncio.run(run()) <= 2


def test_silence_after_the_head_is_not_waited_for_as_long_as_the_head() -> None:
    async def behave(call: Call) -> None:
        await call.send(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n")
        await asyncio.Event().wait()

    async def run() -> None:
        client = engine(first_byte=60, between_bytes=0.1, total=60)
        async with serving(behave) as url, client.open_session() as visit, asyncio.timeout(20):
            await visit.fetch(Request("GET", parse_url(url)))

    with pytest.raises(TimedOut, match=r"answered with HTTP 200 and headers, but no body came within 0\.1 s"):
        asyncio.run(run())


def test_leaving_a_visit_drops_its_connections() -> None:
    async def run() -> bool:
        gone = asyncio.Event()

        async def behave(call: Call) -> None:
            await call.reply(200, b"{}")
            asyncio.get_running_loop().create_task(watch(call))

        async def watch(call: Call) -> None:
            await call.writer.wait_closed()
            gone.set()

        async with serving(behave) as url:
            async with engine().open_session() as visit:
                await visit.fetch(Request("GET", parse_url(url)))
            await asyncio.wait_for(gone.wait(), 60)
        return gone.is_set()

    assert asyncio.run(run())


def test_a_slow_reader_does_not_buffer_the_whole_body() -> None:
    size = 3 * 1024 * 1024

    async def behave(call: Call) -> None:
        await call.reply(200, b"x" * size)

    async def run() -> tuple[int, int]:
        async with serving(behave) as url, engine().open_session() as visit:
            response = await visit.open(Request("GET", parse_url(url)))
            await asyncio.sleep(0.1)
            first = len(await response.read())
            rest = len(await response.read_all())
            response.close()
            return first, rest

    first, rest = asyncio.run(run())
    assert first + rest == size
    assert first <= 1024 * 1024
