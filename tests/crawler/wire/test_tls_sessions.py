"""Later connections to a host resume its TLS session, and its certificate is still verified every hour."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import pytest
import uvloop

from crawler.http.address_guard import AddressGuard
from crawler.http.connection import Limits
from crawler.http.engine import HttpEngine, HttpSession, Request
from crawler.http.failures import TlsFailure
from crawler.http.tls_sessions import TlsSessions
from crawler.http.url import parse_url
from tests.crawler.wire.certificates import Authority
from tests.crawler.wire.test_engine import AGENT, Names
from tests.servers.hostile import Call, serving
from tests.stepping_clock import SteppingClock

PRE_SHARED_KEY = 41
"""The number of the extension that offers a session (RFC 8446, 4.2)."""


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("tls"))


async def hello(call: Call) -> None:
    await call.reply(200, b"hello")


async def is_resumed(engine: HttpEngine, url: str) -> bool:
    """Fetch over a fresh connection, and say whether it resumed an earlier one."""
    async with engine.open_session() as visit:
        request = Request("GET", parse_url(url))
        response = await visit.open(request)
        assert await response.read_all() == b"hello"
        response.close()
        return _resumed(visit)


def _resumed(visit: HttpSession) -> bool:
    ((connection,),) = visit._idle.values()
    assert connection.tls is not None
    return bool(connection.tls.session_reused)


def engine_of(authority: Authority) -> HttpEngine:
    guard = AddressGuard(allow_private=True)
    resolver = Names(["127.0.0.1"])
    return HttpEngine(user_agent=AGENT, guard=guard, tls=authority.trusting(), resolver=resolver, limits=Limits())


def secure(url: str) -> str:
    return url.replace("http://127.0.0.1", "https://localhost")


@pytest.mark.parametrize("version", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
@pytest.mark.parametrize("loop", [asyncio.new_event_loop, uvloop.new_event_loop])
def test_connections_after_the_second_resume_its_session(
    authority: Authority, version: ssl.TLSVersion, loop: Callable[[], asyncio.AbstractEventLoop]
) -> None:
    tls = authority.serving()
    tls.maximum_version = version

    async def run() -> list[bool]:
        engine = engine_of(authority)
        async with serving(hello, tls=tls) as url:
            return [await is_resumed(engine, secure(url)) for _ in range(4)]

    with asyncio.Runner(loop_factory=loop) as runner:
        assert runner.run(run()) == [False, False, True, True]


def test_a_server_that_fails_when_a_session_is_offered_is_asked_without_one(authority: Authority) -> None:
    engine, refused = engine_of(authority), list[asyncio.StreamWriter]()

    async def run() -> list[bool]:
        async with relaying(authority, refused) as url:
            waiting = asyncio.create_task(_abort_first(refused))
            found = [await is_resumed(engine, url) for _ in range(6)]
            await waiting
            return found

    assert asyncio.run(run()) == [False] * 6
    assert len(refused) == 1


def test_a_server_that_is_silent_when_a_session_is_offered_is_asked_without_one(authority: Authority) -> None:
    engine, refused = engine_of(authority), list[asyncio.StreamWriter]()
    engine.limits = Limits(connect=2)

    async def run() -> list[bool]:
        async with relaying(authority, refused) as url:
            return [await is_resumed(engine, url) for _ in range(6)]

    assert asyncio.run(run()) == [False] * 6
    assert len(refused) == 1


@asynccontextmanager
async def relaying(authority: Authority, refused: list[asyncio.StreamWriter]) -> AsyncIterator[str]:
    """A gateway to a server of the authority, which answers none that offers a session, and adds it to `refused`."""
    async with serving(hello, tls=authority.serving()) as url:
        port = int(parse_url(url).origin.port)

        async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            first = await reader.read(65536)
            if PRE_SHARED_KEY in extensions(first):
                refused.append(writer)
                return
            behind, onward = await asyncio.open_connection("127.0.0.1", port)
            onward.write(first)
            await asyncio.gather(_copy(reader, onward), _copy(behind, writer))

        gateway = await asyncio.start_server(relay, "127.0.0.1", 0)
        async with gateway:
            yield f"https://localhost:{gateway.sockets[0].getsockname()[1]}/"
            for writer in refused:
                writer.transport.abort()


async def _abort_first(refused: list[asyncio.StreamWriter]) -> None:
    while not refused:
        await asyncio.sleep(0.01)
    refused[0].transport.abort()


def extensions(hello: bytes) -> set[int]:
    """The numbers of the extensions of a ClientHello in one record (RFC 8446, 4.1.2)."""
    at = 5 + 4 + 2 + 32  # heads of record and message, version, random
    at += 1 + hello[at]  # session id
    at += 2 + int.from_bytes(hello[at : at + 2])  # cipher suites
    at += 1 + hello[at]  # compression methods
    end = at + 2 + int.from_bytes(hello[at : at + 2])
    at += 2
    found = set()
    while at < end:
        found.add(int.from_bytes(hello[at : at + 2]))
        at += 4 + int.from_bytes(hello[at + 2 : at + 4])
    return found


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
    except ConnectionError:
        pass
    writer.close()


def test_a_host_with_another_certificate_is_found_out_within_an_hour(authority: Authority) -> None:
    clock = SteppingClock(datetime(2026, 11, 28, tzinfo=UTC))

    async def run() -> None:
        engine = engine_of(authority)
        engine.tls_sessions = TlsSessions(clock.monotonic)
        tls = authority.serving()
        async with serving(hello, tls=tls) as url:
            assert [await is_resumed(engine, secure(url)) for _ in range(3)] == [False, False, True]
            tls.load_cert_chain(*authority.issue("other.example"))
            assert await is_resumed(engine, secure(url))
            clock.step(timedelta(seconds=3601))
            await is_resumed(engine, secure(url))

    with pytest.raises(TlsFailure, match="mismatch"):
        asyncio.run(run())


def test_hosts_are_forgotten_from_the_oldest_on() -> None:
    sessions = TlsSessions()
    for number in range(5000):
        sessions.record_handshake(parse_url(f"https://host{number}.example/").origin)

    assert len(sessions._hosts) == 4096
    assert parse_url("https://host0.example/").origin not in sessions._hosts
