"""Positive controls: servers on the official SDK are listed over every transport, and its client agrees with us."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from evidence.kinds.listing import LISTS, End, Listing
from evidence.model import Target, TargetType
from tests.crawler.collectors.launching import PipeLauncher, sdk_server
from tests.crawler.collectors.protocol.probing import collector, listing, names, record_of

pytestmark = pytest.mark.xdist_group("exchanges")


@pytest.fixture(
    scope="module",
    params=["streamable-http", pytest.param("streamable-http json", marks=pytest.mark.soak), "sse", "stdio"],
)
def target(request: pytest.FixtureRequest) -> Iterator[Target]:
    with sdk_server(request.param) as served:
        yield served


def probed(target: Target) -> Listing:
    return listing(asyncio.run(record_of(collector(launcher=PipeLauncher()), target)))


def test_an_sdk_server_is_listed_whole(target: Target) -> None:
    found = probed(target)

    assert names(found.tools.items) == ["add", "greet"]
    assert names(found.resources.items) == ["welcome"]
    assert names(found.resource_templates.items) == ["topic_text"]
    assert names(found.prompts.items) == ["summarise"]
    assert [found.list_of(name).end for name in LISTS] == [End.COMPLETE] * 4
    assert found.server_info["name"] == "sdk-fixture"
    assert found.instructions == "Add first, then greet."


def test_an_sdk_server_over_streamable_http_is_modern_and_dual(target: Target) -> None:
    record = asyncio.run(record_of(collector(launcher=PipeLauncher()), target))

    if target.type is TargetType.STREAMABLE_HTTP:
        assert (listing(record).era, listing(record).protocol_version) == ("modern", "2026-07-28")
        assert record.observation["eras"] == ["modern", "legacy"]
    else:
        assert (listing(record).era, listing(record).protocol_version) == ("legacy", "2025-11-25")


def test_the_official_client_sees_the_same_tools(target: Target) -> None:
    from anyio import open_process  # noqa: F401  otherwise pytest parses it beside threads, which Python 3.11.2 may not bear
    from mcp import Client, StdioServerParameters
    from mcp.client.sse import sse_client

    async def official() -> list[object]:
        if target.type is TargetType.SSE:
            where: object = sse_client(target.identifier)
        elif target.type is TargetType.COMMAND:
            where = StdioServerParameters(command=target.arguments[0], args=list(target.arguments[1:]))
        else:
            where = target.identifier
        async with Client(where) as client:  # type: ignore[arg-type]
            tools = (await client.list_tools()).tools
            return [tool.model_dump(mode="json", by_alias=True, exclude_unset=True) for tool in tools]

    assert asyncio.run(official()) == [item.raw for item in probed(target).tools.items]
