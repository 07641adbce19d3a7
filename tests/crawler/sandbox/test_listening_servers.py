"""Servers that listen on a port inside their box are found and probed there; the box gets no way out."""

from __future__ import annotations

import asyncio
import socket
import sysconfig
from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from crawler.sandbox.boxes.inner_sockets import COUNT
from crawler.sandbox.toolchain import host
from evidence.kinds import access, exchanges, listing, trials
from evidence.kinds.listing import Listing
from evidence.launch_options import LaunchOptions
from evidence.model import Absent, Observed, Reason, Record, Target, TargetType
from tests.crawler.collectors.protocol.probing import PROBE, collector, names, records_of
from tests.crawler.sandbox.driving import HOSTILE, sandbox

pytestmark = [pytest.mark.sandbox, pytest.mark.xdist_group("attacks")]

SDK_SERVER = """
import sys
from mcp.server.mcpserver import MCPServer
server = MCPServer("ports")

@server.tool(annotations={"readOnlyHint": True})
def add(a: int, b: int) -> int:
    "Add two numbers."
    return a + b

server.run(transport=sys.argv[1], port=int(sys.argv[2]))
"""
PLAIN_SERVER = """
import http.server
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_error(404)
    do_POST = do_GET
http.server.HTTPServer(("127.0.0.1", 8123), Handler).serve_forever()
"""
SILENT_SERVER = """
import socket, sys
listener, held = socket.create_server(("127.0.0.1", 8123)), []
while True:
    held.append(listener.accept()[0])
    print(held[-1].recv(1000).split()[1].decode(), file=sys.stderr, flush=True)
"""
SOCKETS = """
import json, os, socket, sys, time
here = sorted(int(name) for name in os.listdir("/proc/self/fd"))
def dial(port):
    try:
        return socket.create_connection(("127.0.0.1", port), 2) and "connected"
    except OSError as error:
        return type(error).__name__
print(json.dumps({"open": len(here), "host": dial(int(sys.argv[1]))}), flush=True)
listener = socket.create_server(("127.0.0.1", 9000))
taken, _ = listener.accept()
print(taken.recv(5).decode(), flush=True)
time.sleep(60)
"""


def project(folder: Path, text: str, *arguments: str) -> Target:
    """A command with the official Python SDK that runs `text`, in a folder that the box's user may enter."""
    folder /= "project"
    folder.mkdir()
    (folder / "server.py").write_text(text)
    packages = folder / ".venv/lib" / f"python{host.find_own_interpreter().version}"
    packages.mkdir(parents=True)
    (packages / "site-packages").symlink_to(sysconfig.get_path("purelib"))
    return Target(type=TargetType.COMMAND, identifier=str(folder), arguments=("python", "server.py", *arguments))


def probe(
    cache: Path, target: Target, earlier: Mapping[str, Record] | None = None, *, patience: float = 3.0
) -> dict[str, Record]:
    async def run() -> dict[str, Record]:
        limits = replace(PROBE, stdio_answer=patience)
        prober = collector(launcher=await sandbox(cache), limits=limits)
        return await records_of(prober, target, earlier=earlier)

    return asyncio.run(run())


def content(records: dict[str, Record], kind: str) -> bytes:
    found = records[kind].content
    assert isinstance(found, Observed), found
    return found.body


@pytest.mark.parametrize(
    ("transport", "url", "path"), [("streamable-http", "", "/mcp"), ("sse", "http://localhost:8765", "/sse")]
)
def test_a_server_of_the_python_sdk_on_a_port_is_listed(
    cache: Path, tmp_path: Path, transport: str, url: str, path: str
) -> None:
    target = replace(project(tmp_path, SDK_SERVER, transport, "8765"), launch=LaunchOptions(url=url))
    records = probe(cache, target, patience=30.0 if url else 12.0)
    listed = Listing.parse(content(records, listing.KIND))
    assert names(listed.tools.items) == ["add"]
    assert listed.sandbox == "bubblewrap"
    assert f'"transport":"{transport}"'.encode() in content(records, listing.KIND)
    assert records[listing.KIND].observation["listens"] == f"http://127.0.0.1:8765{path}"
    assert isinstance(records[exchanges.KIND].content, Observed)
    assert isinstance(records[trials.KIND].content, Observed)
    assert isinstance(records[access.KIND].content, Absent)
    known = probe(cache, replace(target, launch=LaunchOptions()), records, patience=40.0)  # it would wait on stdio
    assert known[listing.KIND].content == records[listing.KIND].content


def test_the_declared_address_is_probed(cache: Path, tmp_path: Path) -> None:
    server = SDK_SERVER.replace("port=int(sys.argv[2])", "port=int(sys.argv[2]), streamable_http_path='/there'")
    target = project(tmp_path, server, "streamable-http", "8765")
    launch = LaunchOptions(url="http://localhost:8765/there")
    records = probe(cache, replace(target, launch=launch), patience=30.0)
    assert records[listing.KIND].observation["listens"] == "http://127.0.0.1:8765/there"


def test_a_port_without_mcp_and_a_server_that_ends_are_told_apart(cache: Path, tmp_path: Path) -> None:
    (tmp_path / "web").mkdir()
    (tmp_path / "ends").mkdir()
    web = project(tmp_path / "web", PLAIN_SERVER)
    ends = project(tmp_path / "ends", "raise SystemExit('no configuration')")
    seen = [
        probe(cache, target)[listing.KIND].content
        for target in (web, replace(ends, launch=LaunchOptions(url="http://localhost:8765/mcp")))
    ]
    assert seen == [
        Absent(Reason.TRANSPORT_UNSUPPORTED, "it listens on port 8123 instead of stdio, and speaks no MCP there"),
        Absent(Reason.START_FAILED, "the process ended before answering initialize: exit code 1: no configuration"),
    ]


def test_a_port_that_answers_nothing_is_asked_at_one_path(cache: Path, tmp_path: Path) -> None:
    record = probe(cache, project(tmp_path, SILENT_SERVER), patience=2.0)[listing.KIND]
    words = "it listens on port 8123 instead of stdio, and speaks no MCP there"
    assert record.content == Absent(Reason.TRANSPORT_UNSUPPORTED, words)
    asked = record.observation["stderr"]
    assert isinstance(asked, str)
    assert set(asked.split()) == {"/mcp"}


def test_a_declared_port_that_stays_closed_is_no_obstacle_to_stdio(cache: Path) -> None:
    target = Target(type=TargetType.COMMAND, identifier=str(HOSTILE), arguments=("python", "remembering.py"))
    records = probe(cache, replace(target, launch=LaunchOptions(url="http://localhost:8765/mcp")), patience=4.0)
    assert b'"transport":"stdio"' in content(records, listing.KIND)


def test_a_box_with_reachable_ports_has_no_way_out_and_keeps_no_socket(cache: Path, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "server.py").write_text(SOCKETS)

    async def run(url: str) -> tuple[str, str]:
        with socket.create_server(("127.0.0.1", 0)) as ours:
            command = ("python", "server.py", str(ours.getsockname()[1]))
            target = Target(type=TargetType.COMMAND, identifier=str(folder), arguments=command)
            launched = await (await sandbox(cache)).launch(replace(target, launch=LaunchOptions(url=url)))
        assert not isinstance(launched, Absent), launched
        said = (await launched.read(1000)).decode()
        if not url:
            with pytest.raises(OSError, match="no further socket"):
                await launched.connect(9000)
            await launched.stop()
            return said, ""
        while 9000 not in launched.list_ports():
            await asyncio.sleep(0.05)
        connection = await launched.connect(9000)
        await asyncio.get_running_loop().sock_sendall(connection, b"hello")
        heard = (await launched.read(1000)).decode()
        for _ in range(COUNT - 1):
            with pytest.raises(ConnectionRefusedError):
                await launched.connect(9001)
        with pytest.raises(OSError, match="no further socket"):
            await launched.connect(9000)
        connection.close()
        await launched.stop()
        return said, heard

    usual, _ = asyncio.run(run(""))
    said, heard = asyncio.run(run("http://localhost:9000"))
    assert (said, heard) == (usual, "hello\n")
    assert '"host": "ConnectionRefusedError"' in said
