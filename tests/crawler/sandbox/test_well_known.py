"""Well-known packages, with and without credentials, list their tools; run by `make live`."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from bench.packages import Clock, Row, declared, fresh, measure, opened

pytestmark = [pytest.mark.live, pytest.mark.sandbox]
PACKAGES = (
    "@modelcontextprotocol/server-filesystem",
    "@modelcontextprotocol/server-brave-search",
    "mcp-server-time",
    "mcp-atlassian",
)


@pytest.mark.parametrize("package", PACKAGES)
def test_it_lists_its_tools_each_time_alike(shared_cache: Path, package: str) -> None:
    async def run() -> Row:
        async with fresh(await opened(shared_cache, Clock())) as (box, clock):
            return await measure(box, clock, next(entry for entry in declared() if entry["identifier"] == package), 1)

    row = asyncio.run(run())
    assert row.tools, (row.reason, row.detail)
    assert row.same
    assert row.install_warm is not None
    assert row.install_cold is not None
    assert row.install_warm < row.install_cold, "the same version is not installed again"
