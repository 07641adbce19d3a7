"""The official client meets launched servers over our own pipe, within a budget, and nothing of either is left."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import pytest
from msgspec.structs import replace

from crawler.collectors.interop import stdio_relay
from crawler.collectors.interop.client import SdkSession
from crawler.collectors.interop.collector import InteropCollector, InteropLimits
from crawler.collectors.interop.request import InteropRequest
from crawler.collectors.interop.stdio_session import run_interop_over_stdio
from crawler.http.address_guard import AddressGuard
from crawler.http.engine import HttpEngine
from crawler.http.rate_limiting import HostRateLimiter
from crawler.launcher import LaunchedServer, Launcher, ProcessExit
from evidence.canonical import Json
from evidence.kinds.interop import Interop
from evidence.model import Absent, Dossier, Observed, Reason, Record, Server, Target, TargetType
from tests.crawler.collectors.launching import PipeLauncher, module
from tests.crawler.collectors.protocol import probing
from tests.processes import children

NOW = datetime(2026, 11, 21, tzinfo=UTC)
AGENT = "Hallmark/0 (+https://hallmark.example/bot)"
LIMITS = InteropLimits(wall=200)
BRISK = InteropLimits(wall=2)
SDK = module("tests.servers.sdk_server", "stdio")
SOAK = pytest.mark.soak
EVERYTHING = {"tools": 2, "resources": 1, "resourceTemplates": 1, "prompts": 1}


def hostile(behaviour: str) -> Target:
    return module("tests.servers.hostile_stdio", behaviour)


def scripted(code: str) -> Target:
    """A server of hostile_stdio after a change to it."""
    code = f"from tests.servers import hostile_stdio as server; {code}"
    return Target(type=TargetType.COMMAND, identifier=".", arguments=(sys.executable, "-c", code))


def collector(launcher: Launcher | None, limits: InteropLimits = LIMITS) -> InteropCollector:
    engine = HttpEngine(user_agent=AGENT, guard=AddressGuard(allow_private=True))
    return InteropCollector(engine, launcher, HostRateLimiter(), lambda: NOW, limits, user_agent=AGENT, gap=0)


async def record_of(made: InteropCollector, *targets: Target) -> Record:
    server = Server(ref="test", name="test", targets=targets)
    [record] = await made.collect(server, Dossier(server=server, as_of=NOW, records={}))
    return record


def met(target: Target, limits: InteropLimits = LIMITS, *, starts: int = 1) -> Observed | Absent:
    """What comes of one server, of which no process may be left."""

    async def run() -> Record:
        launcher, before = PipeLauncher(), children()
        record = await record_of(collector(launcher, limits), target)
        assert [process.stops for process in launcher.launched] == [1] * starts
        assert children() <= before
        return record

    record = asyncio.run(run())
    assert record.observation["sandbox"] == "none"
    return record.content


def seen(content: Observed | Absent) -> Interop:
    assert isinstance(content, Observed), content
    return Interop.parse(content.body)


def test_a_server_on_the_sdk_is_connected_to_and_listed() -> None:
    found = seen(met(SDK))

    assert (found.client, found.connected, found.error, found.negotiated) == ("mcp", True, "", "2026-07-28")
    assert found.listed == EVERYTHING


def test_a_server_on_the_sdk_is_listed_after_the_handshake_too() -> None:
    errand = InteropRequest(
        url="", transport="command", headers=(), user_agent=AGENT, allow_private=False, gap=0, wall=25, cpu=10,
        memory=512, handshake=True,
    )  # fmt: skip
    found = seen(asyncio.run(run_interop_over_stdio(PipeLauncher(), SDK, errand)).content)

    assert (found.negotiated, found.error, found.listed) == ("2025-11-25", "", EVERYTHING)


def test_a_server_of_before_2026_is_connected_to_and_listed() -> None:
    found = seen(met(hostile("good")))
    assert (found.connected, found.negotiated, found.listed) == (True, "2025-06-18", {"tools": 1})


def test_one_bad_tool_makes_the_client_refuse_and_we_say_so() -> None:
    found = seen(met(scripted("server.TOOLS.append({'name': 'bad', 'inputSchema': 'none'}); server.good()")))

    assert (found.connected, found.listed, found.asked) == (True, {}, "tools/list")
    assert found.error == "ValidationError"
    assert "tools.1.inputSchema" in found.message


def test_a_server_that_dies_of_the_first_question_of_the_client_is_refused_and_not_absent() -> None:
    found = seen(met(hostile("dies_on_discover"), starts=2))

    assert (found.connected, found.asked) == (False, "server/discover")
    assert (found.error, found.code, found.message) == ("MCPError", -32000, "Connection closed")


def test_a_server_that_dies_while_it_is_listed_is_no_question_of_interoperability() -> None:
    content = met(hostile("dies_on_list"))
    assert content == Absent(Reason.UNREACHABLE, "the process ended before answering tools/list")


DYING = {"exits": 2, "closes_stdout": 2, "huge_stderr": 2, "wants_key": 1, "wants_key_politely": 1}
ENDLESS = ("endless_line", "endless_lines", "endless_blank_lines")
SELDOM = {"closes_stdout", "huge_stderr", "wants_key_politely", "endless_blank_lines"}  # the prober meets them always


@pytest.mark.parametrize(
    "behaviour", [pytest.param(name, marks=SOAK if name in SELDOM else ()) for name in (*DYING, *ENDLESS)]
)
def test_a_server_that_cannot_be_opened_is_absent_as_its_listing_is(behaviour: str) -> None:
    began = time.monotonic()
    content = met(hostile(behaviour), starts=DYING.get(behaviour, 1))
    took = time.monotonic() - began
    listed = asyncio.run(probing.record_of(probing.collector(launcher=PipeLauncher()), hostile(behaviour))).content

    assert content == listed
    assert isinstance(content, Absent)
    assert took < LIMITS.wall


@pytest.mark.parametrize(
    "behaviour", ["silent", *(pytest.param(name, marks=SOAK) for name in ("never_reads", "deep_json"))]
)
def test_a_server_that_does_not_answer_ends_with_the_wall(behaviour: str) -> None:
    began = time.monotonic()
    assert met(hostile(behaviour), BRISK) == Absent(Reason.TIMEOUT, "the client did not finish within 2 seconds")
    assert time.monotonic() - began < BRISK.wall + 100


def test_endless_messages_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio_relay, "LINES", 500)
    code = "[server.send({'jsonrpc': '2.0', 'method': 'notifications/message'}) for _ in iter(int, 1)]"
    assert met(scripted(code)) == Absent(Reason.TOO_LARGE, "more than 500 lines of output")


@pytest.mark.parametrize(
    "target",
    [
        hostile("json_logs"),
        *(
            pytest.param(target, marks=SOAK)
            for target in (SDK, *map(hostile, ["good", "windows_lines", "asks_back", "late_answer"]))
        ),
    ],
    ids=lambda target: target.arguments[-1],
)
def test_our_pipe_says_to_the_client_what_its_own_transport_says(target: Target) -> None:
    from mcp import Client, StdioServerParameters

    async def through_its_own() -> tuple[str | None, Mapping[str, Json]]:
        meeting = SdkSession()
        await meeting.run(Client(StdioServerParameters(command=target.arguments[0], args=list(target.arguments[1:]))))
        return meeting.negotiated, meeting.listed

    found = seen(met(target))
    assert (found.negotiated, found.listed) == asyncio.run(through_its_own())
    assert not found.error


def test_output_that_is_not_utf_8_is_refused() -> None:
    found = seen(met(hostile("banner")))
    assert (found.connected, found.asked, found.error) == (False, "connect", "UnicodeDecodeError")


def test_a_launch_that_fails_is_recorded_as_the_launcher_says() -> None:
    class Refusing:
        async def launch(self, target: Target) -> Absent:
            return Absent(Reason.INSTALL_FAILED, "no such version")

    package = Target(type=TargetType.NPM, identifier="notes")
    record = asyncio.run(record_of(collector(Refusing()), package))
    assert record.content == Absent(Reason.INSTALL_FAILED, "no such version")


@pytest.mark.parametrize(
    ("kind", "launcher"),
    [(TargetType.NPM, None), (TargetType.OCI, None), (TargetType.CARGO, PipeLauncher())],
)
def test_what_cannot_be_run_here_is_absent_as_its_listing_is(kind: TargetType, launcher: Launcher | None) -> None:
    package = Target(type=kind, identifier="x")
    content = asyncio.run(record_of(collector(launcher), package)).content
    assert content == asyncio.run(probing.record_of(probing.collector(launcher=launcher), package)).content


def test_the_next_target_is_met_when_the_first_cannot_be() -> None:
    nowhere = Target(type=TargetType.STREAMABLE_HTTP, identifier="http://127.0.0.1:9/mcp")
    record = asyncio.run(record_of(collector(PipeLauncher()), nowhere, hostile("good")))
    assert seen(record.content).connected


def test_a_meeting_that_is_given_up_leaves_no_process() -> None:
    async def run() -> None:
        asked = asyncio.Event()

        class Noticing(PipeLauncher):
            async def launch(self, target: Target) -> Any:
                found: Any = await super().launch(target)
                write = found.write

                async def noticed(data: bytes) -> None:
                    asked.set()
                    await write(data)

                found.write = noticed
                return found

        before, launcher = children(), Noticing()
        meeting = asyncio.ensure_future(record_of(collector(launcher), hostile("silent")))
        await asked.wait()
        meeting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await meeting
        assert [process.stops for process in launcher.launched] == [1]
        assert children() <= before

    asyncio.run(run())


@dataclass
class _Roomed:
    """A launched server that gives its slot back when it is stopped."""

    inner: LaunchedServer
    room: asyncio.Semaphore

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    async def stop(self) -> ProcessExit:
        found = await self.inner.stop()
        self.room.release()
        return found


def test_a_sandbox_with_one_slot_serves_probes_and_clients_of_many_servers() -> None:
    class OneSlot(PipeLauncher):
        room = asyncio.Semaphore(1)

        async def launch(self, target: Target) -> Any:
            await self.room.acquire()
            found: Any = await super().launch(target)
            return _Roomed(found, self.room)

    async def run() -> list[Record]:
        launcher = OneSlot()
        clients, probes = collector(launcher, replace(LIMITS, wall=60)), probing.collector(launcher=launcher)
        async with asyncio.TaskGroup() as tasks, asyncio.timeout(90):
            meetings = [
                tasks.create_task(record_of(clients, hostile(name))) for name in ("good", "dies_on_discover", "good")
            ]
            listings = [tasks.create_task(probing.record_of(probes, hostile("good"))) for _ in range(3)]
        return [task.result() for task in (*meetings, *listings)]

    assert all(isinstance(record.content, Observed) for record in asyncio.run(run()))
