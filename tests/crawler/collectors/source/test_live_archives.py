"""Official servers as their packages are published today: what is read in them is what they list; by `make live`."""

from __future__ import annotations

import asyncio
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from crawler.collectors.package import PackageCollector
from crawler.collectors.source import ReaderPool, SourceCollector
from crawler.http.engine import HttpEngine
from crawler.sandbox.toolchain.configured_indexes import ConfiguredIndexes
from evidence.kinds.source import Source
from evidence.model import Dossier, Observed, Server, Target, TargetType
from workers.settings.environment import read_settings

pytestmark = pytest.mark.live

CAPTURES = Path(__file__).parents[3] / "dossiers" / "captures"


async def look(target: Target) -> Source:
    engine = HttpEngine(user_agent="hallmark-test")
    indexes = ConfiguredIndexes(os.environ, read_settings().cache)
    packages = PackageCollector(engine, indexes, lambda: datetime.now(UTC))
    readers = ReaderPool(salt=b"live")
    collector = SourceCollector(engine, readers, packages, indexes, lambda: datetime.now(UTC), rules="")
    found = Dossier(server=Server(ref="test:live", name="live", targets=(target,)), as_of=datetime.now(UTC))
    try:
        record, *_ = await collector.follow(found, found)
    finally:
        await readers.close()
    assert isinstance(record.content, Observed), record.content
    return Source.parse(record.content.body)


@pytest.mark.parametrize("capture", ["mcp-server-git", "mcp-server-fetch", "modelcontextprotocol__server-slack"])
def test_the_tools_in_the_source_are_those_that_are_listed(capture: str) -> None:
    document: dict[str, Any] = json.loads((CAPTURES / f"{capture}.json").read_text())
    kind = TargetType.PYPI if document["capture"]["ecosystem"] == "pypi" else TargetType.NPM
    view = asyncio.run(look(Target(type=kind, identifier=document["package"], version=document["version"])))
    listed = {tool["name"]: " ".join(tool["description"].split()) for tool in document["tools"]}
    assert {tool.name: " ".join((tool.description or "").split()) for tool in view.tools} == listed
    assert view.complete
    assert view.transports.keys() == {"stdio"}
    assert view.readme is not None
    assert view.readme.snippet
