"""Real servers from the user's package indexes are installed and started; run by `make live`."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path

import pytest

from evidence.canonical import Json
from evidence.model import Absent, Target, TargetType
from tests.crawler.sandbox.driving import sandbox

pytestmark = [pytest.mark.live, pytest.mark.sandbox]
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "hallmark", "version": "0"}},
}
SERVERS = [
    (TargetType.PYPI, "mcp-server-time", ("--local-timezone", "UTC")),
    (TargetType.PYPI, "mcp-server-fetch", ()),
    (TargetType.NPM, "@modelcontextprotocol/server-everything", ()),
    (TargetType.NPM, "@modelcontextprotocol/server-memory", ()),
    (TargetType.NPM, "@modelcontextprotocol/server-filesystem", ("/tmp",)),
    (TargetType.NPM, "@modelcontextprotocol/server-sequential-thinking", ()),
]


@pytest.mark.parametrize(("ecosystem", "name", "arguments"), SERVERS)
def test_real_server_answers_initialize(
    cache: Path, ecosystem: TargetType, name: str, arguments: tuple[str, ...]
) -> None:
    async def run() -> Json:
        box = await sandbox(cache, dict(os.environ))
        launched = await box.launch(Target(type=ecosystem, identifier=name, arguments=arguments))
        assert not isinstance(launched, Absent), launched
        await launched.write(json.dumps(INITIALIZE).encode() + b"\n")
        said = b""
        while b"\n" not in said and (data := await launched.read(65536)):
            said += data
        end = await launched.stop()
        assert said, end.stderr
        return json.loads(said.split(b"\n", 1)[0])

    answer = asyncio.run(run())
    assert "tools" in answer["result"]["capabilities"]
