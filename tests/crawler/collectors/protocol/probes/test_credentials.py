"""A configured credential opens a locked server, goes nowhere else, and is found in nothing that is kept."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import quote

import pytest

from crawler.collectors.protocol import ProtocolCollector
from crawler.http.address_guard import AddressGuard
from crawler.http.credentials import Credentials, read_credentials
from crawler.http.engine import HttpEngine
from crawler.http.rate_limiting import HostRateLimiter
from evidence.kinds.access import Access, AccessClass
from evidence.kinds.listing import Listing
from evidence.model import Absent, Dossier, Observed, Record, Server, Target, TargetType
from tests.crawler.collectors.protocol.probing import AGENT, NOW, PROBE, WIRE, Timekeeper
from tests.servers import preloaded
from tests.servers.hostile import OPENING, Call, Mcp, serving
from tests.servers.locked import Locked, good_pages
from tests.servers.sdk_locked import TOKEN as SDK_TOKEN

TOKEN = 's3cret+token/value==&<"x'
SPELLINGS = (
    TOKEN,
    json.dumps(TOKEN)[1:-1],
    quote(TOKEN, safe=""),
    "".join(f"\\u{ord(letter):04x}" for letter in TOKEN),
    base64.b64encode(TOKEN.encode()).decode().rstrip("="),
)


def known(folder: Path, url: str, token: str) -> Credentials:
    path = folder / "credentials.json"
    path.write_text(json.dumps({url: {"bearer_env": "TOKEN"}}))
    return read_credentials(path, {"TOKEN": token}.get)


async def collect(credentials: Credentials, *targets: Target, depth: str = "core") -> Mapping[str, Record]:
    hand = Timekeeper()
    collector = ProtocolCollector(
        HttpEngine(user_agent=AGENT, guard=AddressGuard(allow_private=True), limits=WIRE),
        None,
        HostRateLimiter(tick=hand.tick, sleep=hand.sleep),
        lambda: NOW,
        PROBE,
        credentials=credentials,
        depth=depth,
    )
    server = Server(ref="test", name="test", targets=targets)
    return {record.kind: record for record in await collector.collect(server, Dossier(server=server, as_of=NOW))}


def everything(records: Mapping[str, Record]) -> str:
    """All that is kept, as one text: every body and every observation."""
    parts = []
    for record in records.values():
        content = record.content
        parts.append(content.body.decode() if isinstance(content, Observed) else content.detail)
        parts.append(json.dumps(dict(record.observation), ensure_ascii=False))
    return "\n".join(parts)


def remote(url: str, kind: TargetType = TargetType.STREAMABLE_HTTP) -> Target:
    return Target(type=kind, identifier=url)


def echo(call: Call) -> str:
    return call.headers.get("authorization", "").removeprefix("Bearer ")


class Echo:
    """A locked server that repeats its caller's token wherever it can, in every spelling, in one piece or in two."""

    def __init__(self, *, stream: bool) -> None:
        self._stream = stream

    async def __call__(self, call: Call) -> None:
        said = echo(call)
        if said != TOKEN:
            await call.reply(401, b"", ("WWW-Authenticate", "Bearer"))
            return
        loud = " ".join(SPELLINGS)
        if call.body[-1:] not in {b"", b"}", b"]"}:
            await call.reply(400, loud.encode())
            return
        headers = (
            ("Mcp-Session-Id", quote(said, safe="")),
            ("Server", said),
            ("X-Powered-By", said),
            ("Via", f"1.1 {said}"),
            ("WWW-Authenticate", f'Bearer realm="{quote(said)}"'),
            ("Retry-After", said),
        )
        if call.method == "initialize":
            await self._result(
                call, {**OPENING, "instructions": loud, "serverInfo": {"name": said, "version": said}}, headers
            )
        elif call.method == "tools/list":
            tool = {
                "name": "get_note",
                "description": loud,
                "inputSchema": {"type": "object", "title": loud},
                loud: loud,
            }
            await self._result(call, {"tools": [tool], "_meta": {said: loud}}, headers)
        elif call.message and "id" not in call.message:
            await call.reply(202, loud.encode(), *headers)
        elif call.verb == "POST":
            await call.error(-32601, loud, 200)
        else:
            await call.reply(405, loud.encode(), *headers)

    async def _result(self, call: Call, value: object, headers: tuple[tuple[str, str], ...]) -> None:
        if not self._stream:
            await call.result(value, *headers)
            return
        message = json.dumps({"jsonrpc": "2.0", "id": call.message["id"], "result": value})
        head = "".join(f"{name}: {text}\r\n" for name, text in headers)
        event = f": {TOKEN}\nid: {TOKEN}\nevent: message\ndata: {message}\n\n".encode()
        await call.send(
            f"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n{head}Connection: close\r\n\r\n".encode()
        )
        for start in range(0, len(event), 7):
            await call.send(event[start : start + 7])
            await asyncio.sleep(0)
        call.writer.close()


@pytest.mark.parametrize("stream", [False, True], ids=["json", "stream"])
@pytest.mark.parametrize("depth", ["core", "full"])
def test_an_echoed_token_is_in_nothing_that_is_kept_or_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str], stream: bool, depth: str
) -> None:
    caplog.set_level(logging.DEBUG)

    async def run() -> Mapping[str, Record]:
        async with serving(Echo(stream=stream)) as url:
            return await collect(known(tmp_path, url, TOKEN), remote(url), depth=depth)

    records = asyncio.run(run())
    listing = records["listing"].content
    assert isinstance(listing, Observed), listing
    assert [tool.name for tool in Listing.parse(listing.body).tools.items] == ["get_note"]
    out, err = capfd.readouterr()
    kept = everything(records) + caplog.text + out + err
    assert "[credential]" in kept
    for spelling in SPELLINGS:
        assert spelling not in kept
        assert json.dumps(spelling)[1:-1] not in kept


def test_a_locked_server_is_listed_and_still_called_locked(tmp_path: Path) -> None:
    server = Locked(pages=good_pages(), token=TOKEN)

    async def run() -> Mapping[str, Record]:
        async with serving(server) as url:
            return await collect(known(tmp_path, url, TOKEN), remote(url))

    records = asyncio.run(run())
    assert isinstance(records["listing"].content, Observed)
    content = records["access"].content
    assert isinstance(content, Observed)
    assert Access.parse(content.body).access_class is AccessClass.GATED_AT_CONNECT
    assert records["access"].observation["credentials"] == records["listing"].observation["credentials"] == "configured"
    assert [path for verb, path, credential in server.asked if verb == "GET" and TOKEN in credential] == []


def test_without_credentials_the_same_server_is_not_listed(tmp_path: Path) -> None:
    async def run() -> Mapping[str, Record]:
        async with serving(Locked(token=TOKEN)) as url:
            return await collect(known(tmp_path, url + "/deeper", TOKEN), remote(url))

    records = asyncio.run(run())
    assert isinstance(records["listing"].content, Absent)
    assert "credentials" not in records["access"].observation


@pytest.mark.parametrize("status", [307, 308])
@pytest.mark.parametrize("kind", [TargetType.STREAMABLE_HTTP, TargetType.SSE])
def test_a_token_is_not_sent_over_a_redirect(tmp_path: Path, kind: TargetType, status: int) -> None:
    seen: list[tuple[str, str]] = []

    async def run() -> Mapping[str, Record]:
        async with serving(Mcp()) as elsewhere:

            async def behave(call: Call) -> None:
                seen.append((call.path, echo(call)))
                if call.path == "/mcp":
                    await call.reply(status, b"", ("Location", "/mcp/below"))
                elif call.path == "/mcp/below":
                    await call.reply(status, b"", ("Location", elsewhere))
                else:
                    await call.reply(404)

            async with serving(behave) as url:
                return await collect(known(tmp_path, url, TOKEN), remote(url, kind))

    asyncio.run(run())
    assert ("/mcp", TOKEN) in seen
    assert {token for path, token in seen if path != "/mcp"} == {""} or {path for path, _ in seen} == {"/mcp"}
    assert ("/mcp/below", TOKEN) not in seen


def test_a_token_does_not_follow_an_sse_endpoint_out_of_its_address(tmp_path: Path) -> None:
    seen: list[tuple[str, str]] = []

    async def behave(call: Call) -> None:
        seen.append((call.path, echo(call)))
        if call.verb == "GET" and call.path == "/mcp":
            await call.send(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nevent: endpoint\ndata: /other\n\n"
            )
            await asyncio.sleep(30)
        else:
            await call.reply(401)

    async def run() -> Mapping[str, Record]:
        async with serving(behave) as url:
            return await collect(known(tmp_path, url, TOKEN), remote(url, TargetType.SSE))

    asyncio.run(run())
    assert ("/mcp", TOKEN) in seen
    assert ("/other", "") in seen
    assert ("/other", TOKEN) not in seen


@pytest.fixture(scope="module")
def sdk_url() -> Iterator[str]:
    command = [sys.executable, "-m", "tests.servers.sdk_locked"]
    with preloaded.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}/mcp"
        finally:
            process.kill()


def test_a_locked_sdk_server_passes_every_must(sdk_url: str) -> None:
    from tests.crawler.collectors.protocol.access.access_session import RULES, look

    looked = asyncio.run(look(remote(sdk_url)))
    musts = {check for check, rule in RULES.items() if rule.checks[0].level == "MUST"}
    assert {check: verdict for check, verdict in looked.verdicts.items() if check in musts} == dict.fromkeys(
        musts, "pass"
    )
    [challenge] = looked.access.challenges
    assert challenge.parameters["resource_metadata"].endswith("/.well-known/oauth-protected-resource/mcp")
    assert looked.access.bogus
    assert looked.access.bogus.status == 401


def test_a_locked_sdk_server_is_listed_with_its_token(sdk_url: str, tmp_path: Path) -> None:
    records = asyncio.run(collect(known(tmp_path, sdk_url, SDK_TOKEN), remote(sdk_url)))
    listing = records["listing"].content
    assert isinstance(listing, Observed), listing
    assert [tool.name for tool in Listing.parse(listing.body).tools.items] == ["add"]
    assert SDK_TOKEN not in everything(records)
