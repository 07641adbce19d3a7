"""A full probe of servers that misbehave in the middle: it stops in time, within its bounds, with no false failure."""

from __future__ import annotations

import asyncio
import json
import re
import time
from itertools import count

import pytest

from crawler.http.engine import HttpSession
from evidence.kinds.exchanges import Exchange, Exchanges
from evidence.model import Reason, Record, Target, TargetType
from tests.crawler.collectors.launching import PipeLauncher, module
from tests.crawler.collectors.protocol.probes.test_remote_probe import LIST_ENDS, PAGE, TOLERATED, always, dripping
from tests.crawler.collectors.protocol.probing import (
    Timekeeper,
    absent,
    body,
    collector,
    record_of,
    records_of,
    remote,
    talk,
)
from tests.servers.hostile import OPENING, TOOLS, UNKNOWN, Behaviour, Call, Mcp, serving

MODERN = "2026-07-28"
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"


NEWEST = {**OPENING, "protocolVersion": "2025-11-25"}


def probe_server(
    behaviour: Behaviour, *, kind: TargetType = TargetType.STREAMABLE_HTTP, brisk: bool = False
) -> dict[str, Record]:
    async def run() -> dict[str, Record]:
        async with serving(behaviour) as url:
            return await records_of(collector(depth="full", brisk=brisk), remote(url, kind))

    return asyncio.run(run())


def by_step(found: Exchanges) -> dict[str, Exchange]:
    return {one.step: one for one in found.exchanges}


@pytest.mark.parametrize("name", [*TOLERATED, *LIST_ENDS])
def test_no_list_stops_a_full_probe(name: str) -> None:
    server = TOLERATED.get(name) or LIST_ENDS[name][0]

    found = talk(probe_server(server, brisk=name == "silent list"))

    assert found.depth == "full"
    assert by_step(found)["ping"].code == -32601 or by_step(found)["ping"].failure == "not_collected"
    assert len([one for one in server.asked if not one.endswith("/list")]) <= 60


def test_a_server_that_asks_for_fewer_requests_is_asked_no_more() -> None:
    server = Mcp({"resources/list": always(429, b"", ("Retry-After", "1"))})

    found = talk(probe_server(server))

    steps = by_step(found)
    assert steps["list-resources-undeclared"].status == 429
    # Only the session's and the visit's own ends may follow.
    assert server.asked[-1] == "resources/list"
    after = found.exchanges[steps["list-resources-undeclared"].index + 1 :]
    assert after
    assert {one.failure for one in after} == {"not_collected"}
    assert all(one.unclear for one in after)


def test_a_session_is_not_even_ended_where_fewer_requests_were_asked_for() -> None:
    async def initialize(call: Call) -> None:
        await call.result(OPENING, ("Mcp-Session-Id", "session-0123456789"))

    server = Mcp({"initialize": initialize, "prompts/list": always(429)})

    probe_server(server)

    assert server.asked[-1] == "prompts/list"


def test_a_server_that_dies_of_a_malformed_text_is_recorded_without_its_risky_questions() -> None:
    server, dead = Mcp(), False

    async def behave(call: Call) -> None:
        nonlocal dead
        if dead or (call.body and not call.message):
            dead = True
            call.writer.transport.abort()
        else:
            await server(call)

    steps = by_step(talk(probe_server(behave)))

    assert steps["ping"].code == -32601
    assert not {"unknown-method", "batch", "malformed"} & set(steps)


def test_a_process_that_dies_of_a_malformed_line_does_not_spoil_the_other_era() -> None:
    found = talk(asyncio.run(records_of(collector(depth="full", launcher=PipeLauncher()), _process("good"))))

    steps = by_step(found)
    assert steps["ping"].answer is not None
    assert steps["malformed"].failure == "unreachable"
    assert steps["discover"].code == -32601
    assert found.eras == {"legacy"}


def test_a_process_that_stays_after_the_end_of_its_input_has_not_ended() -> None:
    began = time.monotonic()
    found = talk(asyncio.run(records_of(collector(depth="full", launcher=PipeLauncher()), _process("lingers"))))

    assert [one.ended for one in found.of("close")] == [False]
    assert time.monotonic() - began < 100


def test_lines_that_are_no_messages_are_kept_as_texts_without_what_changes() -> None:
    found = talk(asyncio.run(records_of(collector(launcher=PipeLauncher()), _process("dated_banner"))))

    [first] = found.of("initialize")
    assert [one.text for one in first.received if one.text] == ["0-0-0T0:0:0Z [0] listening"]
    assert first.answer is not None


def test_a_stream_that_never_ends_is_watched_once_and_costs_seconds() -> None:
    async def endless(call: Call) -> None:
        number = json.dumps(call.message["id"]).encode()
        answer = b'data: {"jsonrpc":"2.0","id":' + number + b',"error":{"code":-32601,"message":"no"}}\n\n'
        await dripping(STREAM + answer, b": ping\n\n")(call)

    server = Mcp({"ping": endless, UNKNOWN: endless, "prompts/list": endless})
    began = time.monotonic()

    steps = by_step(talk(probe_server(server)))

    assert steps["ping"].ended is False
    assert steps["unknown-method"].ended is None
    assert time.monotonic() - began < 100


def volatile() -> Mcp:
    """A server of both eras with random session ids, dates and a request id in a header."""
    numbers = count(int(time.monotonic() * 1_000_000))

    def make_headers() -> list[tuple[str, str]]:
        return [("Date", f"Sun, 22 Nov 2026 02:00:{next(numbers) % 60:02} GMT"), ("X-Request-Id", f"{next(numbers)}")]

    async def initialize(call: Call) -> None:
        session = f"{next(numbers):x}-0123456789abcdef"
        sessions.add(session)
        await call.result(NEWEST, ("Mcp-Session-Id", session), *make_headers())

    async def discover(call: Call) -> None:
        value = {"supportedVersions": [MODERN], "capabilities": {"tools": {}}, "resultType": "complete"}
        await call.result(value, *make_headers())

    async def tools(call: Call) -> None:
        session = call.headers.get("mcp-session-id")
        if call.headers.get("mcp-protocol-version") == MODERN or session in sessions:
            await call.result({"tools": TOOLS}, *make_headers(), *([("Mcp-Session-Id", session)] if session else []))
        else:
            await call.error(-32000, f"no session {session} here")

    async def refuse(call: Call) -> None:
        text = f"session {call.headers.get('mcp-session-id')} knows no such method"
        await call.error(-32601, text)

    sessions: set[str] = set()
    return Mcp({"initialize": initialize, "server/discover": discover, "tools/list": tools, UNKNOWN: refuse})


def test_nothing_that_changes_from_visit_to_visit_is_in_a_body() -> None:
    first, second = (probe_server(volatile()) for _ in range(2))

    assert len({re.sub(rb"127\.0\.0\.1:[0-9]+", b"here", body(found)) for found in (first, second)}) == 1
    assert talk(first).eras == {"modern", "legacy"}
    assert b"session 0 knows no such method" in body(first)
    assert all(one.headers.get("mcp-session-id", "session").startswith("session") for one in talk(first).exchanges)


@pytest.mark.parametrize("listens", [True, False])
def test_a_subscription_is_opened_only_when_the_operator_says_so(listens: bool) -> None:
    async def discover(call: Call) -> None:
        value = {"supportedVersions": [MODERN], "capabilities": {"tools": {"listChanged": True}, "prompts": {}}}
        await call.result(value)

    async def listen(call: Call) -> None:
        notice = {
            "jsonrpc": "2.0",
            "method": "notifications/subscriptions/acknowledged",
            "params": call.message["params"],
        }
        await dripping(STREAM + b": hi\n\ndata: " + json.dumps(notice).encode() + b"\n\n", b": ping\n\n")(call)

    async def run() -> list[Exchange]:
        async with serving(Mcp({"server/discover": discover, "subscriptions/listen": listen})) as url:
            prober = collector(depth="full")
            prober._listen = listens
            return list(talk(await records_of(prober, remote(url))).of("listen"))

    asked = asyncio.run(run())

    assert len(asked) == listens
    for one in asked:
        params = one.received[0].members["params"]
        assert isinstance(params, dict)
        assert params["notifications"] == {"toolsListChanged": True}
        assert not one.failure


def test_a_session_minted_by_a_modern_answer_is_recorded_without_its_id() -> None:
    async def discover(call: Call) -> None:
        value = {"supportedVersions": [MODERN], "capabilities": {}}
        await call.result(value, ("Mcp-Session-Id", f"{time.monotonic_ns()}"))

    [found] = talk(probe_server(Mcp({"server/discover": discover}))).of("discover")

    assert found.headers["mcp-session-id"] == "another session"


def test_what_the_server_sent_is_spliced_byte_for_byte() -> None:
    odd = b'{ "code" :-32601.0e0, "message":"\\u0061\\ud800", "data":12345678901234567890 }'

    async def refuse(call: Call) -> None:
        number = str(call.message["id"]).encode()
        await call.reply(200, b'{"jsonrpc":"2.0", "id":' + number + b' ,"error" :' + odd + b"}")

    assert odd in body(probe_server(Mcp({"ping": refuse})))


@pytest.mark.parametrize("member", ['"result"', '"\\u0072esult"'])
@pytest.mark.parametrize("around", ['%s,"id":1', '"id":1,%s', '"id":1 , %s ,"x":2'])
def test_a_listed_result_leaves_a_message_that_can_be_read(member: str, around: str) -> None:
    async def tools(call: Call) -> None:
        text = "{" + around % f"{member} : {json.dumps({'tools': TOOLS})}" + "}"
        await call.reply(200, text.replace('"id":1', f'"id":{call.message["id"]}').encode())

    [found] = talk(probe_server(Mcp({"tools/list": tools}))).of("list-tools")

    assert found.result == {"tools": TOOLS}
    assert found.answer is not None
    assert ("id" in found.answer.members) is (member == '"result"')


# What a prober got wrong on ten thousand servers before us.


def test_a_marker_far_down_a_page_is_found() -> None:
    padding = b"<!doctype html><html><head>" + b"<meta x>" * 1_000
    page = padding + b"<title>Just a moment...</title></head></html>"

    async def run() -> Record:
        async with serving(always(403, page, kind="text/html")) as url:
            return await record_of(collector(), remote(url))

    assert absent(asyncio.run(run())).reason is Reason.BLOCKED_BY_WAF


def test_an_answer_far_down_a_body_is_found() -> None:
    async def initialize(call: Call) -> None:
        text = json.dumps(
            {"jsonrpc": "2.0", "result": OPENING | {"instructions": "x" * 40_000}, "id": call.message["id"]}
        )
        await call.reply(200, text.encode())

    [found] = talk(probe_server(Mcp({"initialize": initialize}))).of("initialize")

    assert found.fields["serverInfo"] == OPENING["serverInfo"]


def test_a_host_is_asked_one_thing_at_a_time_with_a_gap(monkeypatch: pytest.MonkeyPatch) -> None:
    busy, most = 0, 0
    inner = Mcp()

    async def no(_: HttpSession, __: object) -> bool:
        return False

    async def behave(call: Call) -> None:
        nonlocal busy, most
        busy += 1
        most = max(most, busy)
        await asyncio.sleep(0)
        await inner(call)
        busy -= 1

    async def run() -> Timekeeper:
        hand = Timekeeper()
        monkeypatch.setattr(HttpSession, "is_private", no)  # as if the target were not the operator's own
        async with serving(behave) as url:
            await records_of(collector(depth="full", time=hand), remote(url))
        return hand

    hand = asyncio.run(run())
    assert most == 1
    assert [pause for pause in hand.slept if pause == pytest.approx(0.6)]
    assert sum(hand.slept) >= 0.6 * (len(inner.asked) - 1) - 0.01


def test_405_to_a_post_on_an_sse_endpoint_is_no_fault() -> None:
    async def behave(call: Call) -> None:
        if call.verb == "GET" and call.path == "/mcp":
            await call.send(STREAM + f"event: endpoint\ndata: /messages?{len(streams)}\n\n".encode())
            streams.append(call)
            await asyncio.sleep(30)
        elif not call.path.startswith("/messages?"):
            await call.reply(405)
        else:
            await call.reply(202)
            if "id" in call.message:
                result = {"initialize": OPENING, "tools/list": {"tools": TOOLS}}.get(call.method)
                answer = {"result": result} if result else {"error": {"code": -32601, "message": "no"}}
                await streams[int(call.path.partition("?")[2])].send(
                    b"data: " + json.dumps({"id": call.message["id"], **answer}).encode() + b"\n\n"
                )

    streams: list[Call] = []
    found = talk(probe_server(behave))

    opened = [one for one in found.connections if one.opened]
    assert [one.transport for one in opened] == ["sse"]
    assert by_step(found)["sse-open"].headers["x-endpoint"] == "same-origin"
    assert by_step(found)["ping"].code == -32601


@pytest.mark.parametrize("status", [400, 404, 500])
def test_a_result_counts_whatever_its_status(status: int) -> None:
    async def initialize(call: Call) -> None:
        await call.result(OPENING, status=status)

    assert talk(probe_server(Mcp({"initialize": initialize}))).eras == {"legacy"}


def test_400_that_asks_for_a_token_is_a_lock() -> None:
    async def run() -> Record:
        async with serving(always(400, b"Bearer token required", kind="text/plain")) as url:
            return await record_of(collector(), remote(url))

    assert absent(asyncio.run(run())).reason is Reason.OAUTH_REQUIRED


def test_a_page_in_the_place_of_an_answer_is_kept_as_a_short_text() -> None:
    [found] = talk(probe_server(Mcp({"ping": always(404, PAGE + b"x" * 5_000, kind="text/html")}))).of("ping")

    assert (found.form, found.status) == ("other", 404)
    assert found.received[0].text.startswith("<!DOCTYPE html>")
    assert len(found.received[0].text) == 200


def _process(behaviour: str) -> Target:
    return module("tests.servers.hostile_stdio", behaviour)
