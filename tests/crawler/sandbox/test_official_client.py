"""The official client connects to a server in the real sandbox."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crawler.collectors.interop.collector import InteropCollector
from crawler.http.address_guard import AddressGuard
from crawler.http.engine import HttpEngine
from crawler.http.rate_limiting import HostRateLimiter
from evidence.kinds.interop import Interop
from evidence.model import Absent, Dossier, Observed, Reason, Record, Server, Target, TargetType
from tests.crawler.sandbox.driving import sandbox
from tests.servers import hostile_stdio

pytestmark = pytest.mark.sandbox

NOW = datetime(2026, 11, 21, tzinfo=UTC)


def met(cache: Path, behaviour: str) -> Record:
    async def run() -> Record:
        engine = HttpEngine(user_agent="x", guard=AddressGuard())
        opened = await sandbox(cache, slots=1)
        made = InteropCollector(engine, opened, HostRateLimiter(), lambda: NOW, user_agent="x")
        script = Path(hostile_stdio.__file__)
        command = Target(
            type=TargetType.COMMAND, identifier=str(script.parent), arguments=("python", script.name, behaviour)
        )
        server = Server(ref="test", name="test", targets=(command,))
        [record] = await made.collect(server, Dossier(server=server, as_of=NOW, records={}))
        async with asyncio.timeout(60):  # its slot is free again
            launched = await opened.launch(command)
            assert not isinstance(launched, Absent), launched
            await launched.stop()
        return record

    return asyncio.run(run())


def test_a_contained_server_is_connected_to_and_listed(cache: Path) -> None:
    record = met(cache, "good")

    assert isinstance(record.content, Observed), record.content
    found = Interop.parse(record.content.body)
    assert (found.connected, found.negotiated, found.listed) == (True, "2025-06-18", {"tools": 1})
    assert record.observation["sandbox"] == "bubblewrap"


def test_a_contained_server_that_babbles_ends(cache: Path) -> None:
    assert met(cache, "endless_line").content == Absent(Reason.TOO_LARGE, "a line of more than 4194304 bytes")
