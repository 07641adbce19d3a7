"""Network access of a server to named hosts only; all others are unreachable, and the access is recorded."""

from __future__ import annotations

import asyncio
import json
import ssl
import tempfile
from pathlib import Path

import pytest

from crawler.collectors.protocol.trials.call_policy import CallPolicy, choose_call_policy
from crawler.sandbox.boxes.egress_relay import AllowedEndpoints
from crawler.sandbox.boxes.relay_listener import RelayedBubblewrap
from crawler.sandbox.toolchain.package_indexes import Endpoint
from evidence.canonical import Json
from evidence.kinds.listing import CONTAINING
from evidence.model import Absent, Target, TargetType
from tests.crawler.sandbox import census
from tests.crawler.sandbox.driving import read_all, sandbox
from tests.crawler.wire.certificates import Authority

pytestmark = [pytest.mark.sandbox, pytest.mark.xdist_group("attacks")]

ASKING = """
import json, os, socket, ssl, sys, urllib.request
def ask(what):
    try:
        return what()
    except OSError as error:
        return str(getattr(error, "reason", error))
def get(url):
    return urllib.request.urlopen(url, timeout=20, context=ssl._create_unverified_context()).read().decode()
def dial(port):
    return socket.create_connection(("127.0.0.1", port), 5).recv(1).decode()
port, other = map(int, sys.argv[1:])
print(json.dumps({
    "named": ask(lambda: get(f"https://localhost:{port}/")),
    "another port": ask(lambda: get(f"https://localhost:{other}/")),
    "another name": ask(lambda: get(f"https://127.0.0.1:{port}/")),
    "around the door": ask(lambda: dial(port)),
}))
"""


def project(folder: Path) -> str:
    (folder / "project").mkdir()
    (folder / "project" / "ask.py").write_text(ASKING)
    return str(folder / "project")


def test_only_what_was_named_can_be_reached(cache: Path, tmp_path: Path) -> None:
    asyncio.run(sandbox(cache))
    before = census.take(cache)
    answers, facts, runtime, served = asyncio.run(_asked(cache, tmp_path))
    assert answers.pop("named") == "hello"
    assert "403" in str(answers.pop("another port"))
    assert "403" in str(answers.pop("another name"))
    assert "refused" in str(answers.pop("around the door"))
    assert (answers, served) == ({}, 1)
    assert facts["network"] == [f"localhost:{facts['port']}"]
    assert (runtime, census.take(cache).leaks(before)) == ("bubblewrap, network", [])


def test_the_door_is_no_port_on_which_the_server_listens(cache: Path, tmp_path: Path) -> None:
    async def ports() -> tuple[int, ...]:
        folder = Path(project(tmp_path))
        (folder / "silent.py").write_text("import time; print(flush=True); time.sleep(60)")
        box = await sandbox(cache, endpoints=AllowedEndpoints(frozenset({Endpoint("https", "localhost", 1)})))
        command = Target(type=TargetType.COMMAND, identifier=str(folder), arguments=("python", "silent.py"))
        launched = await box.launch(command)
        assert not isinstance(launched, Absent), launched
        await launched.read(1)
        return (await launched.stop()).ports

    assert asyncio.run(ports()) == ()


async def _asked(cache: Path, folder: Path) -> tuple[dict[str, Json], dict[str, Json], str, int]:
    served = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal served
        await reader.readuntil(b"\r\n\r\n")
        served += 1
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
        writer.close()

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*Authority(folder).issue())
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    port = server.sockets[0].getsockname()[1]
    box = await sandbox(cache, endpoints=AllowedEndpoints(frozenset({Endpoint("https", "localhost", port)})))
    words = ("python", "ask.py", str(port), str(port + 1))
    launched = await box.launch(Target(type=TargetType.COMMAND, identifier=project(folder), arguments=words))
    assert not isinstance(launched, Absent), launched
    said = await read_all(launched)
    end = await launched.stop()
    server.close()
    assert said, end
    return json.loads(said), {**launched.facts, "port": port}, launched.runtime, served


STUBBED = """
import json, os, ssl, sys, urllib.request
def get(url):
    try:
        with urllib.request.urlopen(url, timeout=20) as answer:
            return answer.status, json.load(answer)
    except OSError as error:
        return str(getattr(error, "reason", error))
print(json.dumps([get("https://api.example.com/v1/models?x=1"), get("https://other.example.com/")]))
"""


def test_a_stub_answers_for_one_host_and_contacts_nothing(cache: Path, tmp_path: Path) -> None:
    async def run() -> tuple[Json, dict[str, Json], str]:
        stubs = frozenset({Endpoint("https", "api.example.com", 443)})
        box = await sandbox(cache, endpoints=AllowedEndpoints(frozenset(), stubs=stubs))
        folder = project(tmp_path)
        (Path(folder) / "ask.py").write_text(STUBBED)
        command = Target(type=TargetType.COMMAND, identifier=folder, arguments=("python", "ask.py"))
        launched = await box.launch(command)
        assert not isinstance(launched, Absent), launched
        said = json.loads(await read_all(launched))
        await launched.stop()
        return said, dict(launched.facts), launched.runtime

    said, facts, runtime = asyncio.run(run())
    assert said == [[200, {}], "Tunnel connection failed: 403 Forbidden"]
    assert (facts["network"], facts["stubs"]) == ([], ["api.example.com:443"])
    assert runtime not in CONTAINING
    assert not list(Path(tempfile.gettempdir()).glob("hallmark-*/bundle.pem"))


def test_a_private_address_is_not_reached_under_a_public_name(cache: Path, tmp_path: Path) -> None:
    async def run() -> Json:
        box = await sandbox(
            cache, endpoints=AllowedEndpoints(frozenset(), frozenset({Endpoint("https", "localhost", 443)}))
        )
        words = ("python", "ask.py", "443", "444")
        launched = await box.launch(Target(type=TargetType.COMMAND, identifier=project(tmp_path), arguments=words))
        assert not isinstance(launched, Absent), launched
        said = json.loads(await read_all(launched))
        await launched.stop()
        return said["named"]  # type: ignore[no-any-return]

    assert "hello" not in str(asyncio.run(run()))


def test_no_tool_that_writes_is_tried_where_what_it_does_may_stay() -> None:
    name = RelayedBubblewrap(AllowedEndpoints(frozenset())).name
    assert name not in CONTAINING
    assert choose_call_policy(CallPolicy.SANDBOXED_ALL, name) is CallPolicy.ANNOTATED


def test_no_network_is_open_by_default(cache: Path) -> None:
    assert asyncio.run(sandbox(cache)).runtime in CONTAINING
