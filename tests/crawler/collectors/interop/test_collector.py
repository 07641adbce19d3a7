"""The official client meets servers in a process of its own, within a budget, and we say what it said."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from crawler.collectors.interop.collector import _MAX_REQUESTS, InteropCollector, InteropLimits
from crawler.collectors.interop.request import decode_answer
from crawler.http.address_guard import AddressGuard
from crawler.http.engine import HttpEngine
from crawler.http.rate_limiting import HostRateLimiter
from evidence.kinds.interop import Interop
from evidence.model import Absent, Dossier, Observed, Reason, Record, Server, Target, TargetType
from tests.crawler.collectors.launching import sdk_server
from tests.servers.hostile import OPENING, TOOLS, Behaviour, Call, Mcp, serving

NOW = datetime(2026, 11, 21, tzinfo=UTC)
AGENT = "Hallmark/0 (+https://hallmark.example/bot)"
LIMITS = InteropLimits(wall=200)
BRISK = InteropLimits(wall=3)
SOAK = pytest.mark.soak


def collector(
    limits: InteropLimits = LIMITS, *, private: bool = True, every: timedelta = timedelta(0)
) -> InteropCollector:
    engine = HttpEngine(user_agent=AGENT, guard=AddressGuard(allow_private=private))
    return InteropCollector(engine, None, HostRateLimiter(), lambda: NOW, limits, user_agent=AGENT, gap=0, every=every)


def remote(url: str, kind: TargetType = TargetType.STREAMABLE_HTTP) -> Target:
    return Target(type=kind, identifier=url)


async def record_of(made: InteropCollector, *targets: Target, earlier: Record | None = None) -> Record:
    server = Server(ref="test", name="test", targets=targets)
    records = {earlier.kind: earlier} if earlier else {}
    [record] = await made.collect(server, Dossier(server=server, as_of=NOW, records=records))
    return record


def met(behaviour: Behaviour, limits: InteropLimits = LIMITS) -> Observed | Absent:
    async def run() -> Observed | Absent:
        async with serving(behaviour) as url:
            return (await record_of(collector(limits), remote(url))).content

    return asyncio.run(run())


def seen(content: Observed | Absent) -> Interop:
    assert isinstance(content, Observed), content
    return Interop.parse(content.body)


@pytest.fixture(scope="module", params=["streamable-http", pytest.param("sse", marks=SOAK)])
def target(request: pytest.FixtureRequest) -> Iterator[Target]:
    with sdk_server(request.param) as served:
        yield served


def test_a_server_on_the_sdk_is_connected_to_and_listed(target: Target) -> None:
    found = seen(asyncio.run(record_of(collector(), target)).content)

    assert (found.client, found.connected, found.error) == ("mcp", True, "")
    assert found.version.startswith("2.")
    assert found.negotiated == "2026-07-28"
    assert found.listed == {"tools": 2, "resources": 1, "resourceTemplates": 1, "prompts": 1}


def test_a_legacy_server_is_connected_to_and_listed() -> None:
    found = seen(met(Mcp()))
    assert (found.connected, found.negotiated, found.listed) == (True, "2025-06-18", {"tools": 2})


def test_a_server_that_may_fall_gets_neither_the_first_question_of_the_sdk_nor_a_delete() -> None:
    asked: list[str] = []

    async def serve(call: Call) -> None:
        asked.append(call.method)
        if call.method == "initialize":
            await call.result({**OPENING, "protocolVersion": "2025-03-26"}, ("Mcp-Session-Id", "0123456789abcdef"))
        else:
            await Mcp()(call)

    assert seen(met(serve)).listed == {"tools": 2}
    assert {"server/discover", "DELETE"} & set(asked) == set()


def test_no_more_requests_are_made_than_are_charged_to_the_host() -> None:
    """Most are made of a server that may speak the newest revision and refuses it: it is opened twice."""
    asked: list[str] = []
    kinds = ("tools", "resources", "prompts")
    lists = {f"{kind}/list": {kind: []} for kind in kinds} | {"resources/templates/list": {"resourceTemplates": []}}
    opened = {**OPENING, "protocolVersion": "2025-11-25", "capabilities": {kind: {} for kind in kinds}}

    async def serve(call: Call) -> None:
        asked.append(call.method)
        if call.method == "initialize":
            await call.result(opened, ("Mcp-Session-Id", "0123456789abcdef"))
        elif call.method in lists:
            await call.result(lists[call.method])
        else:
            await Mcp()(call)

    assert seen(met(serve)).listed == {"tools": 0, "resources": 0, "resourceTemplates": 0, "prompts": 0}
    assert asked.count("initialize") == 2
    assert len(asked) <= _MAX_REQUESTS


@SOAK  # test_stdio_session has one in every run
def test_one_bad_tool_makes_the_client_refuse_and_we_say_so() -> None:
    async def listed(call: Call) -> None:
        await call.result({"tools": [*TOOLS, {"name": "bad", "inputSchema": "none"}]})

    found = seen(met(Mcp(overrides={"tools/list": listed})))
    assert (found.connected, found.listed, found.asked) == (True, {}, "tools/list")
    assert found.error == "ValidationError"
    assert "tools.2.inputSchema" in found.message


def test_an_error_is_recorded_with_its_code_and_without_secrets_or_ids() -> None:
    async def refused(call: Call) -> None:
        token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0"
        await call.error(-32050, f"token={token} of session 3f2a9c4e11aa7b20 rejected\n at 1763777204123")

    content = met(Mcp(overrides={"tools/list": refused}))
    found = seen(content)
    assert (found.asked, found.error, found.code) == ("tools/list", "MCPError", -32050)
    assert found.message.endswith("rejected at …")
    assert not {"ghp_", "3f2a9c4e", "1763777204123"} & set(found.message.split())
    assert "ghp_" not in found.message
    assert "3f2a" not in found.message
    assert content == met(Mcp(overrides={"tools/list": refused}))


@SOAK  # endless pages are counted in every run
def test_pages_are_counted_to_the_end() -> None:
    async def page(call: Call) -> None:
        at = int(call.message.get("params", {}).get("cursor", "0"))
        await call.result({"tools": TOOLS} | ({"nextCursor": str(at + 1)} if at < 2 else {}))

    assert seen(met(Mcp(overrides={"tools/list": page}))).listed == {"tools": 6}


def test_endless_pages_end() -> None:
    async def page(call: Call) -> None:
        await call.result({"tools": TOOLS, "nextCursor": "again"})

    assert seen(met(Mcp(overrides={"tools/list": page}))).listed == {"tools": 40}


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        (401, Reason.OAUTH_REQUIRED),
        pytest.param(402, Reason.PAYMENT_REQUIRED, marks=SOAK),
        pytest.param(403, Reason.FORBIDDEN, marks=SOAK),
        pytest.param(429, Reason.RATE_LIMITED, marks=SOAK),
        (503, Reason.UNREACHABLE),
    ],
)
def test_a_locked_or_broken_server_is_no_question_of_interoperability(status: int, reason: Reason) -> None:
    async def locked(call: Call) -> None:
        await call.reply(status)

    assert met(locked) == Absent(reason, f"HTTP {status}")


def test_256_mebibytes_end_within_the_budget() -> None:
    async def flood(call: Call) -> None:
        await call.send(b"HTTP/1.1 200 X\r\nContent-Type: application/json\r\nContent-Length: 268435456\r\n\r\n")
        for _ in range(4096):
            await call.send(b" " * 65536)

    began = time.monotonic()
    content = met(Mcp(overrides={"tools/list": flood}))
    assert isinstance(content, Absent)
    assert content.reason is Reason.TOO_LARGE
    assert time.monotonic() - began < 100


def test_an_endless_event_stream_ends_within_the_budget() -> None:
    async def stream(call: Call) -> None:
        await call.send(b"HTTP/1.1 200 X\r\nContent-Type: text/event-stream\r\n\r\n")
        while not call.writer.is_closing():
            await call.send(b": still here\n\n")
            await asyncio.sleep(0.02)

    began = time.monotonic()
    content = met(Mcp(overrides={"tools/list": stream}), BRISK)
    assert isinstance(content, Absent)
    assert content.reason is Reason.TIMEOUT
    assert time.monotonic() - began < BRISK.wall + 100


def test_a_client_that_needs_too_much_memory_ends() -> None:
    async def wide(call: Call) -> None:
        await call.result({"tools": [[[[]]] * 8] * 200_000})

    content = met(Mcp(overrides={"tools/list": wide}), InteropLimits(wall=200, memory=160))
    assert isinstance(content, Absent)
    assert content.reason is Reason.TOO_LARGE


def test_a_client_that_needs_too_much_processor_time_ends() -> None:
    async def page(call: Call) -> None:
        await call.result({"tools": [{"name": "a", "inputSchema": {"type": "object"}}] * 40_000, "nextCursor": "again"})

    content = met(Mcp(overrides={"tools/list": page}), InteropLimits(wall=200, cpu=1))
    assert content == Absent(Reason.TOO_LARGE, "the client needs more than 1 s of processor time")


def test_a_private_address_is_not_opened() -> None:
    async def run() -> Record:
        async with serving(Mcp()) as url:
            return await record_of(collector(private=False), remote(url))

    content = asyncio.run(run()).content
    assert isinstance(content, Absent)
    assert content.reason is Reason.BLOCKED_ADDRESS


def test_declared_headers_are_sent_and_the_agent_is_honest() -> None:
    heard: list[dict[str, str]] = []
    inner = Mcp()

    async def listen(call: Call) -> None:
        heard.append(call.headers)
        await inner(call)

    async def run() -> None:
        async with serving(listen) as url:
            named = Target(type=TargetType.STREAMABLE_HTTP, identifier=url, headers=(("X-Plan", "free"),))
            await record_of(collector(), named)

    asyncio.run(run())
    assert {(headers["x-plan"], headers["user-agent"]) for headers in heard} == {("free", AGENT)}


def test_a_server_that_was_met_within_the_week_is_not_contacted_again() -> None:
    nowhere = Target(type=TargetType.NPM, identifier="notes")  # there is no launcher
    weekly = collector(every=timedelta(days=7))
    first = asyncio.run(record_of(weekly, nowhere))
    assert isinstance(first.content, Absent)
    earlier_record = replace(first, content=Observed(b'{"connected":true}'))

    again = asyncio.run(record_of(weekly, nowhere, earlier=earlier_record))
    assert (again.content, again.observation) == (earlier_record.content, earlier_record.observation)
    late = replace(earlier_record, observation={"met_at": (NOW - timedelta(days=7)).isoformat()})
    assert isinstance(asyncio.run(record_of(weekly, nowhere, earlier=late)).content, Absent)
    unsaid = replace(earlier_record, observation={"met_at": "long ago"})
    assert isinstance(asyncio.run(record_of(weekly, nowhere, earlier=unsaid)).content, Absent)


@pytest.mark.parametrize("line", [b"", b"Traceback", b"[]", b'{"absent":["no_such_reason",""]}', b'{"absent":1}'])
def test_a_process_that_says_nothing_sensible_is_our_fault(line: bytes) -> None:
    content: Any = decode_answer(line)
    assert content.reason is Reason.COLLECTOR_ERROR


def test_an_answer_is_read_as_it_was_written() -> None:
    assert decode_answer(json.dumps({"absent": ["timeout", "words"]}).encode()) == Absent(Reason.TIMEOUT, "words")
