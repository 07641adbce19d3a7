"""Servers that misbehave over HTTP: each leaves a recorded outcome, and none a crash."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Callable
from typing import Any

import pytest

from evidence.kinds.listing import End, Listing
from evidence.model import Reason, TargetType
from tests.crawler.collectors.protocol.probing import absent, collector, listing, names, probe, record_of, remote
from tests.sampling import some
from tests.servers.hostile import OPENING, TOOLS, Behaviour, Call, Mcp

CHALLENGE = b"<!DOCTYPE html><html><head><title>Just a moment...</title></head></html>"
PAGE = b"<!DOCTYPE html><html><head><title>Welcome</title></head><body>Our product</body></html>"


def always(status: int, body: bytes = b"", *headers: tuple[str, str], kind: str = "application/json") -> Behaviour:
    async def behave(call: Call) -> None:
        await call.reply(status, body, *headers, kind=kind)

    return behave


def raw(*chunks: bytes, then: str = "close") -> Behaviour:
    """Send chunks as they are; then close, hold the connection, or repeat the last chunk for ever."""

    async def behave(call: Call) -> None:
        for chunk in chunks:
            await call.send(chunk)
        while then == "repeat" and not call.writer.is_closing():
            await call.send(chunks[-1])
        if then == "hold":
            await asyncio.sleep(30)
        call.writer.close()

    return behave


def dripping(head: bytes, drop: bytes, every: float = 0.05) -> Behaviour:
    """Send a head, then a drop every so often, so that no single read ever times out."""

    async def behave(call: Call) -> None:
        await call.send(head)
        while not call.writer.is_closing():
            await call.send(drop)
            await asyncio.sleep(every)

    return behave


def rpc_error(code: int, message: str, status: int = 200) -> Behaviour:
    async def behave(call: Call) -> None:
        await call.error(code, message, status)

    return behave


def encoded(coding: str, body: bytes) -> Behaviour:
    return always(200, body, ("Content-Encoding", coding))


OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
BOMB = gzip.compress(b" " * (64 << 20), compresslevel=1)

ENDLESS_NUMBER = b'{"jsonrpc":"2.0","id":1,"result":{"capabilities":' + b"9" * 400_000 + b"}}"
REFUSING: dict[str, tuple[Behaviour, Reason, str]] = {
    "401 with a Bearer challenge": (
        always(401, b"", ("WWW-Authenticate", 'Bearer realm="x"')),
        Reason.OAUTH_REQUIRED,
        "Bearer",
    ),
    "401 without a challenge": (always(401), Reason.OAUTH_REQUIRED, "without a challenge"),
    "401 with Basic": (
        always(401, b"", ("WWW-Authenticate", "Basic")),
        Reason.CREDENTIALS_REQUIRED,
        "other than Bearer",
    ),
    "401 that asks for an API key": (
        always(401, b'{"error":"Missing API key"}'),
        Reason.CREDENTIALS_REQUIRED,
        "API key",
    ),
    "400 that asks for a token": (
        always(400, b"Bearer token required", kind="text/plain"),
        Reason.OAUTH_REQUIRED,
        "HTTP 400",
    ),
    "JSON-RPC error that asks for a token": (rpc_error(-32001, "Unauthorized"), Reason.OAUTH_REQUIRED, "-32001"),
    "JSON-RPC error that asks for a key": (
        rpc_error(-32000, "API key missing"),
        Reason.CREDENTIALS_REQUIRED,
        "API key",
    ),
    "402": (always(402), Reason.PAYMENT_REQUIRED, "402"),
    "403": (always(403, b"no"), Reason.FORBIDDEN, "403"),
    "403 of Cloudflare by header": (
        always(403, b"", ("cf-mitigated", "challenge")),
        Reason.BLOCKED_BY_WAF,
        "challenge",
    ),
    "403 of Cloudflare by page": (always(403, CHALLENGE, kind="text/html"), Reason.BLOCKED_BY_WAF, "challenge"),
    "200 that is a challenge page": (always(200, CHALLENGE, kind="text/html"), Reason.BLOCKED_BY_WAF, "challenge"),
    "404": (always(404, b"not here", kind="text/plain"), Reason.NOT_MCP, "HTTP 404"),
    "405": (always(405), Reason.NOT_MCP, "HTTP 405"),
    "415": (always(415), Reason.NOT_MCP, "HTTP 415"),
    "421 of a host allow-list": (always(421), Reason.NOT_MCP, "allow-list"),
    "429": (always(429), Reason.RATE_LIMITED, "429"),
    "500": (always(500), Reason.UNREACHABLE, "HTTP 500"),
    "503": (always(503), Reason.UNREACHABLE, "HTTP 503"),
    "530 of Cloudflare": (always(530), Reason.UNREACHABLE, "HTTP 530"),
    "302": (always(302, b"", ("Location", "/elsewhere")), Reason.NOT_MCP, "redirect is not followed"),
    "307 to the metadata address": (
        always(307, b"", ("Location", "http://169.254.169.254/latest/meta-data")),
        Reason.NOT_MCP,
        "redirect",
    ),
    "308 to another scheme": (always(308, b"", ("Location", "gopher://127.0.0.1/")), Reason.NOT_MCP, "redirect"),
    "307 for ever": (always(307, b"", ("Location", "/mcp")), Reason.NOT_MCP, "redirect"),
    "307 without location": (always(307), Reason.NOT_MCP, "redirect"),
    "HTML under 200": (always(200, PAGE, kind="text/html"), Reason.NOT_MCP, "HTML page"),
    "empty body": (always(200), Reason.NOT_MCP, "without a JSON-RPC answer"),
    "202 to a request": (always(202), Reason.NOT_MCP, "HTTP 202"),
    "not JSON": (always(200, b"{'single': quotes}"), Reason.NOT_MCP, "not JSON"),
    "JSON that is not JSON-RPC": (always(200, b'{"status":"ok"}'), Reason.NOT_MCP, "without a JSON-RPC answer"),
    "NaN": (always(200, b'{"jsonrpc":"2.0","id":1,"result":NaN}'), Reason.NOT_MCP, "not JSON"),
    "result null": (always(200, b'{"jsonrpc":"2.0","id":1,"result":null}'), Reason.NOT_MCP, "not an object"),
    "method not found": (rpc_error(-32601, "nope"), Reason.NOT_MCP, "-32601 to initialize"),
    "50,000 deep JSON": (always(200, b"[" * 50_000 + b"]" * 50_000), Reason.TOO_LARGE, "deeply nested"),
    "50,000 deep result": (
        always(200, b'{"id":1,"result":' + b'{"a":' * 50_000 + b"1" + b"}" * 50_001),
        Reason.TOO_LARGE,
        "deeply nested",
    ),
    "gzip bomb": (encoded("gzip", BOMB), Reason.TOO_LARGE, "inflates"),
    "gzip of thousands of members": (encoded("gzip", gzip.compress(b"") * 5_000), Reason.TOO_LARGE, "gzip members"),
    "gzip that is none": (encoded("gzip", b"plain text"), Reason.NOT_MCP, "gzip"),
    "brotli": (encoded("br", b"\x81\xff"), Reason.TRANSPORT_UNSUPPORTED, "br"),
    "zstd": (encoded("zstd", b"\x28\xb5\x2f\xfd"), Reason.TRANSPORT_UNSUPPORTED, "zstd"),
    "gzip inside brotli": (encoded("br, gzip", BOMB), Reason.TRANSPORT_UNSUPPORTED, "unknown coding"),
    "endless JSON": (raw(OK + b"\r\n[", b"0," * 32_768, then="repeat"), Reason.TOO_LARGE, "bytes"),
    "endless headers": (raw(OK, b"X-Flood: " + b"a" * 8_000 + b"\r\n", then="repeat"), Reason.TOO_LARGE, "headers"),
    "endless header value": (raw(OK + b"X-Flood: ", b"a" * 65_536, then="repeat"), Reason.TOO_LARGE, "headers"),
    "endless chunk extension": (
        raw(OK + b"Transfer-Encoding: chunked\r\n\r\n1;", b"x" * 65_536, then="repeat"),
        Reason.TOO_LARGE,
        "framing",
    ),
    "endless trailers": (
        raw(OK + b"Transfer-Encoding: chunked\r\n\r\n1\r\n[\r\n0\r\n", b"T: t\r\n" * 4_096, then="repeat"),
        Reason.TOO_LARGE,
        "framing",
    ),
    "endless interim answers": (
        raw(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 1_000, then="repeat"),
        Reason.TOO_LARGE,
        "headers",
    ),
    "switching protocols": (
        raw(b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
        Reason.NOT_MCP,
        "HTTP/1.1",
    ),
    "an SSH banner": (raw(b"SSH-2.0-OpenSSH_9.6\r\n"), Reason.NOT_MCP, "not HTTP"),
    "two lengths": (raw(OK + b"Content-Length: 2\r\nContent-Length: 5\r\n\r\n{}"), Reason.NOT_MCP, "not HTTP"),
    "a closed door": (raw(), Reason.UNREACHABLE, "closed before"),
    "a cut body": (raw(OK + b"Content-Length: 100\r\n\r\n{"), Reason.UNREACHABLE, "closed before"),
    "a number of 400,000 digits": (raw(OK + b"\r\n" + ENDLESS_NUMBER), Reason.TOO_LARGE, "1000 digits"),
    "a number of 400,000 digits on a stream": (
        raw(STREAM + b"data: " + ENDLESS_NUMBER + b"\n\n", then="hold"),
        Reason.TOO_LARGE,
        "1000 digits",
    ),
    "silence": (raw(then="hold"), Reason.TIMEOUT, "no answer within 0.8 s"),
    "a head and silence": (
        raw(OK + b"Content-Length: 9\r\n\r\n", then="hold"),
        Reason.TIMEOUT,
        "the server answered with HTTP 200 and headers, but no body came within 0.5 s",
    ),
    "a head, a byte and silence": (
        raw(OK + b"Content-Length: 9\r\n\r\n{", then="hold"),
        Reason.TIMEOUT,
        "the server answered with HTTP 200 and headers, but the body did not continue within 0.5 s",
    ),
    "a dripping head": (
        dripping(OK, b"X-A: b\r\n"),
        Reason.TIMEOUT,
        "the headers of the answer did not end within 1.4 s",
    ),
    "a dripping body": (
        dripping(OK + b"Content-Length: 9999\r\n\r\n", b" "),
        Reason.TIMEOUT,
        "the server answered with HTTP 200 and headers, but the body did not end within 1.4 s",
    ),
    "pings for ever": (dripping(STREAM, b": ping\r\n\r\n"), Reason.TIMEOUT, "the body did not end within 1.4 s"),
    "a stream without answer": (raw(STREAM + b"data: {}\n\n"), Reason.NOT_MCP, "without a JSON-RPC answer"),
    "endless events": (raw(STREAM, b"data: {}\n\n" * 6_000, then="repeat"), Reason.TOO_LARGE, "events"),
    "a stream of one endless line": (raw(STREAM + b"data: ", b"x" * 65_536, then="repeat"), Reason.TOO_LARGE, "bytes"),
}


@pytest.mark.parametrize("name", some(REFUSING, 30))
def test_a_server_that_does_not_open_leaves_its_reason(name: str) -> None:
    behaviour, reason, words = REFUSING[name]

    found = absent(probe(behaviour, prober=collector(brisk=reason is Reason.TIMEOUT)))

    assert found.reason is reason
    assert words in found.detail


@pytest.mark.parametrize("name", ["404", "silence", "endless JSON", "a cut body"])
def test_the_same_failure_has_the_same_digest(name: str) -> None:
    behaviour = REFUSING[name][0]

    first, second = (absent(probe(behaviour, prober=collector(brisk=True))) for _ in range(2))

    assert first.digest == second.digest


def answering(method: str, make: Callable[[Call], bytes], *, kind: str = "application/json", status: int = 200) -> Mcp:
    async def behave(call: Call) -> None:
        await call.reply(status, make(call), kind=kind)

    return Mcp({method: behave})


def envelope(call: Call, value: Any, **changes: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": call.message.get("id"), "result": value} | changes).encode()


def opening(**changes: Any) -> Mcp:
    return Mcp(opening={key: value for key, value in (OPENING | changes).items() if value is not ...})


def tools(items: list[Any], **members: Any) -> Mcp:
    return answering("tools/list", lambda call: envelope(call, {"tools": items, **members}))


def streamed(call: Call) -> bytes:
    notice = b'event: message\r\ndata: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\r\n\r\n'
    lines = json.dumps(json.loads(envelope(call, {"tools": TOOLS})), indent=1).encode().splitlines()
    return b": hello\r\n\r\n" + notice + b"id: 7\r\n" + b"".join(b"data: " + line + b"\r" for line in lines) + b"\r"


async def drip_stream(call: Call) -> None:
    await call.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
    for byte in streamed(call):
        await call.send(b"1\r\n" + bytes([byte]) + b"\r\n")
    await call.send(b"0\r\n\r\n")


TOLERATED: dict[str, Mcp] = {
    "nothing wrong": Mcp(),
    "text/plain": answering("tools/list", lambda call: envelope(call, {"tools": TOOLS}), kind="text/plain"),
    "no content type": answering("tools/list", lambda call: envelope(call, {"tools": TOOLS}), kind=""),
    "wrong id": answering("tools/list", lambda call: envelope(call, {"tools": TOOLS}, id=999)),
    "null id": answering("tools/list", lambda call: envelope(call, {"tools": TOOLS}, id=None)),
    "string id": answering("tools/list", lambda call: envelope(call, {"tools": TOOLS}, id=str(call.message["id"]))),
    "no jsonrpc member": answering("tools/list", lambda call: envelope(call, {"tools": TOOLS}, jsonrpc=None)),
    "batch array": answering("tools/list", lambda call: b"[" + envelope(call, {"tools": TOOLS}) + b"]"),
    "byte order mark": answering("tools/list", lambda call: b"\xef\xbb\xbf" + envelope(call, {"tools": TOOLS})),
    "result under HTTP 400": answering("tools/list", lambda call: envelope(call, {"tools": TOOLS}), status=400),
    "result under HTTP 500": answering("tools/list", lambda call: envelope(call, {"tools": TOOLS}), status=500),
    "event stream": answering("tools/list", streamed, kind="text/event-stream; charset=utf-8"),
    "event stream without its type": answering("tools/list", streamed, kind="application/json"),
    "event stream byte by byte": Mcp({"tools/list": drip_stream}),
    "unknown protocol version": opening(protocolVersion="2099-01-01"),
    "protocol version that is a number": opening(protocolVersion=3),
    "protocol version with a line end": opening(protocolVersion="2025\r\nX: y"),
    "no server info": opening(serverInfo=...),
    "capabilities null": opening(capabilities=None),
    "capabilities a list": opening(capabilities=["tools"]),
    "capabilities empty": opening(capabilities={}),
    "tools true": opening(capabilities={"tools": True}),
    "null cursor": tools(TOOLS, nextCursor=None),
}


@pytest.mark.parametrize("name", TOLERATED)
def test_a_deviation_does_not_lose_the_list(name: str) -> None:
    found = listing(probe(TOLERATED[name]))

    assert names(found.tools.items) == ["get_note", "add_note"]
    assert found.tools.end is End.COMPLETE


BAD_TOOLS: list[Any] = [
    {"name": "a", "inputSchema": None}, {"name": "b"}, {"name": "c", "inputSchema": "object"}, {"inputSchema": {}},
    {"name": 5}, "not an object", None, [], {"name": "d", "inputSchema": {"type": "array"}},
    {"name": "e", "description": 1},
]  # fmt: skip


def test_one_bad_tool_never_loses_the_list() -> None:
    found = listing(probe(tools([*BAD_TOOLS, *TOOLS])))

    assert [item.raw for item in found.tools.items] == [*BAD_TOOLS, *TOOLS]


def test_invalid_utf8_costs_only_the_bad_byte() -> None:
    body = b'{"jsonrpc":"2.0","id":3,"result":{"tools":[{"name":"x","description":"caf\xe9"}]}}'

    record = probe(answering("tools/list", lambda _: body))

    assert listing(record).tools.items[0].description == "caf\ufffd"
    assert record.observation["oddities"] == ["invalid UTF-8"] or "invalid UTF-8" in str(record.observation["oddities"])


def test_a_result_is_spliced_byte_for_byte() -> None:
    odd = b'{ "tools" :[ {"name":"\\u0061","n":1.0e2,"n":12345678901234567890, "d":"\\ud800"}]\t}'
    body = b'{"id":3,\n"result" : ' + odd + b' ,"jsonrpc":"2.0"}'

    record = probe(answering("tools/list", lambda _: body))

    assert odd in record.content.body  # type: ignore[union-attr]
    assert listing(record).tools.items[0].name == "a"


Check = Callable[[Listing], None]


def ends(end: End, words: str = "", items: int | None = None) -> Check:
    def check(found: Listing) -> None:
        assert found.tools.end is end
        assert words in str(found.tools.error)
        assert items is None or len(found.tools.items) == items

    return check


async def _page(call: Call, cursor: Any) -> None:
    await call.result({"tools": TOOLS, "nextCursor": cursor})


async def endless_pages(call: Call) -> None:
    await _page(call, f"page-{call.turn}")


async def same_cursor(call: Call) -> None:
    await _page(call, "again")


async def empty_cursor_once(call: Call) -> None:
    done = "cursor" in call.message["params"]
    await call.result({"tools": TOOLS} | ({} if done else {"nextCursor": ""}))


async def second_page_fails(call: Call) -> None:
    if "cursor" in call.message["params"]:
        await call.error(-32602, "Invalid cursor")
    else:
        await _page(call, "two")


async def long_cursor(call: Call) -> None:
    await _page(call, "x" * 100_000)


async def many_items(call: Call) -> None:
    await call.result({"tools": [{"name": f"t{n}"} for n in range(3_000)], "nextCursor": f"c{call.turn}"})


LIST_ENDS: dict[str, tuple[Mcp, Check]] = {
    "endless pages": (Mcp({"tools/list": endless_pages}), ends(End.CAPPED, "pages", 100)),
    "cursor loop": (Mcp({"tools/list": same_cursor}), ends(End.CURSOR_REPEATED, "twice", 4)),
    "empty cursor": (Mcp({"tools/list": empty_cursor_once}), ends(End.COMPLETE, items=4)),
    "cursor that is a number": (tools(TOOLS, nextCursor=7), ends(End.FAILED, "nextCursor", 2)),
    "cursor of 100 kB": (Mcp({"tools/list": long_cursor}), ends(End.FAILED, "nextCursor", 2)),
    "more than 5,000 items": (Mcp({"tools/list": many_items}), ends(End.CAPPED, "items", 6_000)),
    "error on page two": (Mcp({"tools/list": second_page_fails}), ends(End.ERROR, "-32602", 2)),
    "no array": (answering("tools/list", lambda call: envelope(call, {"tools": {}})), ends(End.FAILED, "array")),
    "result null": (answering("tools/list", lambda call: envelope(call, None)), ends(End.FAILED, "array")),
    "locked list": (Mcp({"tools/list": always(401)}), ends(End.FAILED, "oauth_required", 0)),
    "limited list": (Mcp({"tools/list": always(429)}), ends(End.FAILED, "rate_limited", 0)),
    "silent list": (Mcp({"tools/list": raw(then="hold")}), ends(End.FAILED, "timeout", 0)),
    "list bomb": (Mcp({"tools/list": encoded("gzip", BOMB)}), ends(End.CAPPED, "too_large", 0)),
    "list too deep": (
        Mcp({"tools/list": always(200, b'{"id":1,"result":' + b"[" * 400 + b"]" * 400 + b"}")}),
        ends(End.CAPPED, "too_large", 0),
    ),
    "list is HTML": (Mcp({"tools/list": always(200, PAGE, kind="text/html")}), ends(End.FAILED, "HTML", 0)),
    "declared but unknown": (Mcp({"tools/list": rpc_error(-32601, "no")}), ends(End.ERROR, "-32601", 0)),
    "an error of 100 kB": (Mcp({"tools/list": rpc_error(-1, "x" * 100_000)}), ends(End.ERROR, "more than", 0)),
}  # fmt: skip


@pytest.mark.parametrize("name", LIST_ENDS)
def test_a_bad_list_says_how_it_ended(name: str) -> None:
    server, check = LIST_ENDS[name]

    check(listing(probe(server, prober=collector(brisk=name == "silent list"))))


def session_server(lost: Callable[[int], bool]) -> Mcp:
    """A server with a new session id per initialize that forgets its n-th session when `lost(n)`."""
    opened = 0

    async def open_session(call: Call) -> None:
        nonlocal opened
        opened += 1
        await call.result(OPENING, ("Mcp-Session-Id", f"session-{opened}"))

    async def list_tools(call: Call) -> None:
        number = int(call.headers["mcp-session-id"].removeprefix("session-"))
        await (call.reply(404) if lost(number) else call.result({"tools": TOOLS}))

    return Mcp({"initialize": open_session, "tools/list": list_tools})


def test_a_lost_session_is_opened_once_more() -> None:
    server = session_server(lambda number: number == 1)

    record = probe(server)

    assert listing(record).tools.end is End.COMPLETE
    assert record.observation["session_unstable"] is True
    assert server.asked.count("initialize") == 2


def test_a_session_that_is_always_lost_is_not_chased() -> None:
    server = session_server(lambda _: True)

    assert listing(probe(server)).tools.end is End.FAILED
    assert server.asked.count("initialize") == 2


def test_a_session_is_ended_politely() -> None:
    server = session_server(lambda _: False)

    record = probe(server)

    assert server.asked[-1] == "DELETE"
    assert record.observation["session"] is True


def test_a_session_id_that_could_inject_is_not_sent_back() -> None:
    async def open_session(call: Call) -> None:
        await call.result(OPENING, ("Mcp-Session-Id", "caf\xe9 noir"))

    async def list_tools(call: Call) -> None:
        await call.result({"tools": TOOLS if "mcp-session-id" not in call.headers else []})

    assert listing(probe(Mcp({"initialize": open_session, "tools/list": list_tools}))).tools.items


def _page_of(items: bytes) -> Behaviour:
    async def behave(call: Call) -> None:
        number = str(call.message["id"]).encode()
        await call.reply(200, b'{"jsonrpc":"2.0","id":' + number + b',"result":{"tools":[' + items + b"]}}")

    return behave


@pytest.mark.parametrize(
    "items",
    [b"{}," * 20_000 + b"{}", b'{"name":"a","inputSchema":{"enum":[' + b"0," * 600_000 + b"0]}}"],
    ids=["many tiny items", "many values in one item"],
)
def test_a_page_that_would_cost_every_reader_gigabytes_is_not_kept(items: bytes) -> None:
    found = listing(probe(Mcp({"tools/list": _page_of(items)})))

    assert (found.tools.end, found.tools.pages) == (End.CAPPED, ())


def test_an_opening_that_no_reader_could_parse_is_too_large() -> None:
    # Each invalid byte becomes three: the record's body would be larger than a body may be.
    async def open_session(call: Call) -> None:
        number = str(call.message["id"]).encode()
        opening = b'{"capabilities":{"tools":{}},"instructions":"' + b"\xff" * 3_000_000 + b'"}'
        await call.reply(200, b'{"jsonrpc":"2.0","id":' + number + b',"result":' + opening + b"}")

    found = absent(probe(Mcp({"initialize": open_session})))

    assert (found.reason, found.detail) == (Reason.TOO_LARGE, "an opening of more than 1048576 bytes")


def test_a_same_origin_308_is_followed_and_remembered() -> None:
    inner = Mcp()

    async def behave(call: Call) -> None:
        if call.path == "/mcp":
            await call.reply(308, b"", ("Location", "/mcp/"))
        else:
            await inner(call)

    record = probe(behave)

    assert listing(record).tools.end is End.COMPLETE
    statuses = [exchange.get("status") for exchange in record.observation["exchanges"]]  # type: ignore[union-attr]
    assert statuses.count(308) == 1


@pytest.mark.parametrize(
    "location", ["http://localhost:{port}/mcp", "//127.0.0.2:{port}/mcp", "https://127.0.0.1:{port}/"]
)
def test_no_redirect_leaves_the_origin(location: str) -> None:
    paths: list[str] = []

    async def behave(call: Call) -> None:
        paths.append(call.headers["host"])
        port = call.headers["host"].partition(":")[2]
        await call.reply(307, b"", ("Location", location.format(port=port)))

    assert absent(probe(behave)).reason is Reason.NOT_MCP
    assert len(set(paths)) == 1


def test_a_passing_failure_gets_one_second_try() -> None:
    failed: list[str] = []
    inner = Mcp()

    async def behave(call: Call) -> None:
        if call.method in {"initialize", "tools/list"} and call.method not in failed:
            failed.append(call.method)
            await call.reply(503)
        else:
            await inner(call)

    assert listing(probe(behave)).tools.end is End.COMPLETE


def test_a_lasting_failure_is_not_asked_a_third_time() -> None:
    server = Mcp({"initialize": always(500), "server/discover": always(500)})

    probe(server)

    assert server.asked == ["initialize", "initialize", "server/discover", "server/discover"]


def test_a_lock_is_knocked_at_once_per_era() -> None:
    server = Mcp({"initialize": always(401), "server/discover": always(401)})

    probe(server)

    # What follows is the look at access: metadata, and the refused question with a token that cannot be valid.
    assert server.asked[:2] == ["initialize", "server/discover"]
    assert "server/discover" not in server.asked[2:]


def test_silence_on_discover_does_not_condemn_a_server() -> None:
    server = Mcp({"server/discover": raw(then="hold")})

    assert listing(probe(server, prober=collector(brisk=True))).era == "legacy"


def test_the_worst_server_costs_at_most_thirteen_requests_and_further_pages() -> None:
    everything = {"tools": {}, "resources": {}, "prompts": {}}
    server = Mcp(opening=OPENING | {"capabilities": everything}, overrides={"server/discover": raw()})
    for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list"):
        server.overrides[method] = always(503)

    record = probe(server)

    assert len([asked for asked in server.asked if asked != "GET"]) <= 13  # GET asks for metadata of access
    assert listing(record).prompts.end is End.FAILED


def test_a_closed_port_is_unreachable() -> None:
    record = asyncio.run(record_of(collector(), remote("http://127.0.0.1:1/mcp")))

    assert absent(record).reason is Reason.UNREACHABLE
    assert absent(record).detail == "connection refused"


@pytest.mark.parametrize(
    "url",
    ["https://{tenant}.example.com/mcp", "ftp://example.com/", "https://", "https://user:pw@example.com/", "http://[::1",
     "https://exa mple.com/", "https://example.com:0/", "https://example.com:99999/", "mcp", "https://\ud800.example/"],
)  # fmt: skip
def test_a_url_that_cannot_be_asked_is_an_invalid_registration(url: str) -> None:
    assert absent(asyncio.run(record_of(collector(), remote(url)))).reason is Reason.INVALID_REGISTRATION


def test_the_first_target_that_opens_is_taken_and_else_the_first_reason() -> None:
    async def run() -> tuple[Any, Any]:
        from tests.servers.hostile import serving

        async with serving(always(402)) as paid, serving(always(403)) as closed, serving(Mcp()) as good:
            prober = collector()
            none = await record_of(prober, remote(paid), remote(closed))
            some = await record_of(prober, remote(paid), remote(closed), remote(good))
            return none, some

    none, some = asyncio.run(run())

    assert absent(none).reason is Reason.PAYMENT_REQUIRED
    assert listing(some).tools.items
    assert some.observation["target"] == 2


def test_a_server_without_targets_has_no_package() -> None:
    assert absent(asyncio.run(record_of(collector()))).reason is Reason.NO_PACKAGE


def sse(endpoint: bytes, *, then: Behaviour | None = None) -> Behaviour:
    async def behave(call: Call) -> None:
        if call.verb != "GET":
            await call.reply(405)
            return
        await call.send(STREAM + endpoint)
        await (then(call) if then else asyncio.sleep(30))

    return behave


SSE_REFUSING: dict[str, tuple[Behaviour, Reason, str]] = {
    "endpoint elsewhere": (sse(b"event: endpoint\ndata: https://evil.example\n\n"), Reason.NOT_MCP, "another origin"),
    "endpoint on metadata": (sse(b"event: endpoint\ndata: http://169.254.169.254/\n\n"), Reason.NOT_MCP, "origin"),
    "endpoint that is no URL": (sse(b"event: endpoint\ndata: http://[\n\n"), Reason.NOT_MCP, "endpoint"),
    "stream without endpoint": (sse(b": nothing\n\n"), Reason.TIMEOUT, "named no endpoint within 0.8 s"),
    "stream that ends": (sse(b": bye\n\n", then=raw()), Reason.UNREACHABLE, "stream ended"),
    "endpoint that refuses": (sse(b"event: endpoint\ndata: /messages\n\n"), Reason.NOT_MCP, "HTTP 405"),
    "stream that pings for ever": (sse(b": x\n\n", then=dripping(b"", b": ping\n\n")), Reason.TIMEOUT, "no endpoint"),
}  # fmt: skip


@pytest.mark.parametrize("name", SSE_REFUSING)
def test_an_event_stream_that_does_not_open_leaves_its_reason(name: str) -> None:
    behaviour, reason, words = SSE_REFUSING[name]

    found = absent(probe(behaviour, TargetType.SSE, collector(brisk=reason is Reason.TIMEOUT)))

    assert (found.reason, words in found.detail) == (reason, True), found
