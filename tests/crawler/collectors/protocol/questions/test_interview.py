"""A full probe stops asking when it is not welcome, and fails no server for questions it had no time for."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from crawler.collectors.protocol import ProbeLimits
from crawler.mcp.stdio import StdioChannel
from crawler.mcp.transcript import Transcript
from evidence.kinds.exchanges import Exchange, Exchanges
from evidence.model import Absent, Reason, Record, TargetType
from tests.crawler.collectors.launching import PipeLauncher, module
from tests.crawler.collectors.protocol.probes.test_remote_probe import always, raw
from tests.crawler.collectors.protocol.probing import absent, body, collector, records_of, remote, talk
from tests.servers.hostile import OPENING, Behaviour, Call, Mcp, serving

READING = {"annotations": {"readOnlyHint": True}, "inputSchema": {"type": "object"}}
SILENT = raw(then="hold")


def probe_server(
    behaviour: Behaviour, *, kind: TargetType = TargetType.STREAMABLE_HTTP, brisk: bool = False
) -> dict[str, Record]:
    async def run() -> dict[str, Record]:
        async with serving(behaviour) as url:
            return await records_of(collector(depth="full", brisk=brisk), remote(url, kind))

    return asyncio.run(run())


def by_step(found: Exchanges) -> dict[str, Exchange]:
    return {one.step: one for one in found.exchanges}


@pytest.mark.parametrize(
    ("silent", "waited"),
    [
        (("resources/list", "prompts/list"), 2),
        (("ping", "tools/call", "resources/list"), 3),
    ],
)
def test_silence_stops_after_two_questions_in_a_row_or_three_in_all(silent: Sequence[str], waited: int) -> None:
    server = Mcp(dict.fromkeys(silent, SILENT))

    found = talk(probe_server(server, brisk=True))

    assert [one.failure for one in found.exchanges].count("timeout") == waited
    assert found.exchanges[-1].failure == "not_collected"
    assert server.asked.count("ping") == 1


def test_a_mute_process_costs_two_questions_and_may_still_leave() -> None:
    target = module("tests.servers.hostile_stdio", "slow_to_ping")

    # An interpreter may take a second to start beside other work.
    limits = ProbeLimits(discover=20, total=120, stdio_answer=4, retry_pause=0)
    found = talk(asyncio.run(records_of(collector(depth="full", limits=limits, launcher=PipeLauncher()), target)))

    assert [one.failure for one in found.exchanges if one.connection.index == 0].count("timeout") == 2
    assert by_step(found)["malformed"].failure == "not_collected"


@pytest.mark.parametrize(("seconds", "ended"), [(60.0, False), (0.3, None)])
def test_a_process_is_not_held_to_seconds_that_it_was_not_given(seconds: float, ended: bool | None) -> None:
    async def run() -> Transcript:
        launched = await PipeLauncher().launch(module("tests.servers.hostile_stdio", "lingers"))
        assert not isinstance(launched, Absent)
        transcript = Transcript()
        channel = StdioChannel(launched, transcript, "0", seconds=1, total=seconds)
        try:
            await channel.close_input(1.0)
        finally:
            await channel.close()
        return transcript

    [left] = asyncio.run(run()).exchanges
    assert left.ended is ended
    assert (left.failure is None) == (ended is not None)


def test_who_asks_for_a_long_pause_is_asked_no_more() -> None:
    server = Mcp({"ping": always(503, b"", ("Retry-After", "3600"))})

    found = talk(probe_server(server))

    assert server.asked[-1] == "ping"
    assert server.asked.count("ping") == 1
    assert by_step(found)["unknown-method"].failure == "not_collected"


def test_a_call_that_is_one_too_many_ends_the_whole_probe() -> None:
    tools = [{"name": name, **READING} for name in ("get_note", "list_notes", "read_notes")]

    async def listed(call: Call) -> None:
        await call.result({"tools": tools})

    server = Mcp({"tools/list": listed, "tools/call": always(429)})

    found = talk(probe_server(server))

    assert server.asked[-1] == "tools/call"
    assert server.asked.count("tools/call") == 1
    assert by_step(found)["ping"].failure == "not_collected"


def test_no_tool_is_called_where_fewer_requests_were_asked_for() -> None:
    server = Mcp({"prompts/list": always(429)}, opening={**OPENING, "capabilities": {"tools": {}, "prompts": {}}})

    records = probe_server(server)

    assert absent(records["trials"]).reason is Reason.RATE_LIMITED
    assert "tools/call" not in server.asked


def test_an_answer_behind_many_events_of_a_stream_is_kept() -> None:
    stream: Any = None

    async def behave(call: Call) -> None:
        nonlocal stream
        if call.verb == "GET":
            stream = call
            await call.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
            await call.send(b"event: endpoint\ndata: /messages\n\n")
            await asyncio.sleep(60)
        await call.reply(202)
        if "id" not in call.message:
            return
        notification = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}}
        result = OPENING if call.method == "initialize" else {"tools": []}
        answer = {"jsonrpc": "2.0", "id": call.message["id"], "result": result}
        for message in (*[notification] * 90, answer) if call.method == "tools/list" else (answer,):
            await stream.send(b"event: message\ndata: " + json.dumps(message).encode() + b"\n\n")

    async def run() -> dict[str, Record]:
        async with serving(behave) as url:
            return await records_of(collector(), remote(url, TargetType.SSE))

    [listed] = talk(asyncio.run(run())).of("list-tools")
    assert listed.answer is not None
    assert listed.result == {"tools": []}


def test_neither_a_short_session_id_nor_the_values_of_a_query_are_in_a_body() -> None:
    async def initialize(call: Call) -> None:
        await call.result(OPENING, ("Mcp-Session-Id", f"k{call.turn}q"))

    moved = always(302, b"", ("Location", "/login?state=k93q-of-tonight&next=/mcp"))
    records = probe_server(Mcp({"initialize": initialize, "GET": moved}))

    found = by_step(talk(records))
    assert found["initialize"].headers["mcp-session-id"] == "session 0"
    assert found["stream"].headers["location"] == "/login?state=[removed]&next=[removed]"
    assert b"of-tonight" not in body(records)


def test_redirects_without_end_are_part_of_the_budget_and_break_no_body() -> None:
    server = Mcp()

    async def behave(call: Call) -> None:
        if call.method == "initialize" or (call.method == "tools/list" and call.method not in server.asked):
            await server(call)
            return
        server.asked.append(call.method)
        if call.method == "notifications/initialized":
            await call.reply(202)
        else:
            await call.reply(307, b"", ("Location", f"/mcp/{call.turn}"))

    written = json.loads(body(probe_server(behave)))

    broken = [one["step"] for one in written["exchanges"] if one["sent"]["text"]]
    assert set(broken) == {"redirected", "malformed"}
    assert len([one for one in server.asked if one not in {"GET", "DELETE"}]) <= 62
