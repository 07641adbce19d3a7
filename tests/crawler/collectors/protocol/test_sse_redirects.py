"""The event stream of HTTP+SSE is asked for once more where a redirect keeps method and origin, and nowhere else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping

import pytest

from crawler.collectors.protocol import ProbeLimits
from evidence.kinds.listing import End
from evidence.model import Absent, Record, TargetType
from tests.crawler.collectors.protocol.probing import PROBE, absent, collector, listing, records_of, remote, talk
from tests.servers.hostile import OPENING, TOOLS, Call, serving

RESULTS = {"initialize": OPENING, "tools/list": {"tools": TOOLS}}


class Redirecting:
    """An HTTP+SSE server whose stream is at `/mcp/`; `locations` are where other paths redirect to."""

    def __init__(self, status: int = 307, locations: Mapping[str, str] | None = None) -> None:
        self.gets: list[str] = []
        self._status = status
        self._locations = {"/mcp": "/mcp/"} if locations is None else locations
        self._streams: list[Call] = []

    async def __call__(self, call: Call) -> None:
        """Answer one request."""
        if call.verb == "GET" and "well-known" not in call.path:
            self.gets.append(call.path)
        if call.path in self._locations and call.verb == "GET":
            port = call.headers["host"].partition(":")[2]
            await call.reply(self._status, b"", ("Location", self._locations[call.path].format(port=port)))
        elif call.path == "/mcp/" and call.verb == "GET":
            await call.send(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
            await call.send(f"event: endpoint\ndata: /messages?{len(self._streams)}\n\n".encode())
            self._streams.append(call)
            await asyncio.sleep(60)
        elif not call.path.startswith("/messages?"):
            await call.reply(405)
        else:
            await self._answer(call)

    async def _answer(self, call: Call) -> None:
        await call.reply(202 if call.message else 400)
        if "id" in call.message:
            result = RESULTS.get(call.method)
            answer = {"result": result} if result else {"error": {"code": -32601, "message": "no"}}
            message = json.dumps({"jsonrpc": "2.0", "id": call.message["id"], **answer}).encode()
            await self._streams[int(call.path.partition("?")[2])].send(b"data: " + message + b"\n\n")


def probe_sse(server: Redirecting, depth: str = "core", limits: ProbeLimits = PROBE) -> dict[str, Record]:
    async def run() -> dict[str, Record]:
        async with serving(server) as url:
            return await records_of(collector(depth=depth, limits=limits), remote(url, TargetType.SSE))

    return asyncio.run(run())


@pytest.mark.parametrize("status", [307, 308])
def test_a_redirect_within_the_origin_is_followed_and_recorded(status: int) -> None:
    server = Redirecting(status)

    records = probe_sse(server)

    assert server.gets == ["/mcp", "/mcp/"]
    assert listing(records["listing"]).transport == "sse"
    assert [one.status for one in talk(records).exchanges[:2]] == [status, 200]
    assert [one.step for one in talk(records).exchanges[:2]] == ["redirected", "sse-open"]


def test_every_fresh_stream_of_a_full_probe_is_found_in_the_same_way() -> None:
    server = Redirecting()

    probe_sse(server, "full")

    assert len(server.gets) > 4
    assert server.gets == ["/mcp", "/mcp/"] * (len(server.gets) // 2)


@pytest.mark.parametrize(("requests", "end"), [(4, End.FAILED), (5, End.COMPLETE)])
def test_a_followed_redirect_counts_as_a_request(requests: int, end: End) -> None:
    limits = ProbeLimits(requests=requests, total=60, retry_pause=0)
    assert listing(probe_sse(Redirecting(), limits=limits)["listing"]).tools.end is end


@pytest.mark.parametrize(
    "locations",
    [
        {"/mcp": "http://localhost:{port}/mcp/"},
        {"/mcp": "//127.0.0.2:{port}/mcp/"},
        {"/mcp": "https://127.0.0.1:{port}/mcp/"},
        {"/mcp": "http://169.254.169.254/mcp/"},
    ],
)
def test_no_redirect_leads_to_another_origin(locations: Mapping[str, str]) -> None:
    server = Redirecting(locations=locations)
    assert "redirect is not followed" in absent(probe_sse(server)["listing"]).detail
    assert server.gets == ["/mcp"]


@pytest.mark.parametrize("status", [301, 302, 303])
def test_a_redirect_that_may_change_the_method_is_not_followed(status: int) -> None:
    server = Redirecting(status)
    assert isinstance(probe_sse(server)["listing"].content, Absent)
    assert server.gets == ["/mcp"]


def test_a_second_redirect_is_not_followed() -> None:
    server = Redirecting(locations={"/mcp": "/second", "/second": "/mcp/"})
    assert "redirect is not followed" in absent(probe_sse(server)["listing"]).detail
    assert server.gets == ["/mcp", "/second"]
