"""The same server over three transports and in both eras gives the same lists."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Iterator

import pytest

from evidence.kinds.listing import LISTS, Listing
from evidence.model import Reason, Record, Target, TargetType
from tests.crawler.collectors.launching import PipeLauncher, module
from tests.crawler.collectors.protocol.probing import absent, collector, listing, record_of, remote
from tests.servers.scripted import running
from tests.servers.scripted_answers import Script

SEED = 5
COUNT = 40
REASONS = {
    "gated": Reason.OAUTH_REQUIRED,
    "broken": Reason.UNREACHABLE,
    "html": Reason.NOT_MCP,
    "limited": Reason.RATE_LIMITED,
}


@pytest.fixture(scope="module")
def fleet() -> Iterator[str]:
    with running(COUNT, SEED) as base:
        yield base


def probed(target: Target) -> Record:
    return asyncio.run(record_of(collector(launcher=PipeLauncher()), target))


def lists(found: Listing) -> dict[str, list[object]]:
    return {name: [item.raw for item in found.list_of(name).items] for name in LISTS}


@pytest.mark.parametrize("number", range(COUNT))
def test_every_scripted_server_is_recorded_as_it_is(fleet: str, number: int) -> None:
    script = Script(SEED, number)

    record = probed(remote(f"{fleet}/s/{number}/mcp"))

    if script.fault:
        assert absent(record).reason is REASONS[script.fault]
        return
    found = listing(record)
    assert lists(found)["tools"] == script.items("tools")
    assert found.era == ("legacy" if script.era == "legacy" else "modern")
    assert found.server_info["name"] == f"scripted-{number}"


@pytest.mark.parametrize("number", [0, 1, 2, 4, 5])
def test_three_transports_give_the_same_lists(fleet: str, number: int) -> None:
    http = listing(probed(remote(f"{fleet}/s/{number}/mcp")))
    sse = listing(probed(remote(f"{fleet}/s/{number}/sse", TargetType.SSE)))
    stdio = listing(probed(module("tests.servers.scripted_stdio", "--number", str(number), "--seed", str(SEED))))

    assert [found.transport for found in (http, sse, stdio)] == ["streamable-http", "sse", "stdio"]
    assert lists(http) == lists(sse) == lists(stdio)


def test_an_sse_url_registered_as_streamable_http_is_still_listed(fleet: str) -> None:
    assert listing(probed(remote(f"{fleet}/s/0/sse"))).transport == "sse"


def test_a_streamable_url_registered_as_sse_is_still_listed(fleet: str) -> None:
    assert listing(probed(remote(f"{fleet}/s/0/mcp", TargetType.SSE))).transport == "streamable-http"


def test_a_dual_era_server_is_noted(fleet: str) -> None:
    assert probed(remote(f"{fleet}/s/29/mcp")).observation["eras"] == ["modern", "legacy"]


def test_a_modern_only_process_is_listed() -> None:
    assert listing(probed(module("tests.servers.scripted_stdio", "--number", "3"))).era == "modern"


def test_two_probes_of_an_unchanged_server_give_the_same_bytes(fleet: str) -> None:
    first, second = (probed(remote(f"{fleet}/s/1/mcp")) for _ in range(2))

    assert first.content == second.content
    assert first.content.digest == second.content.digest


@pytest.mark.parametrize("depth", ["core", "full"])
def test_a_probe_leaves_nothing_for_the_garbage_collector(fleet: str, depth: str) -> None:
    """What waits for a collection slows every later probe of a night: by a quarter over HTTP."""

    async def find_garbage() -> set[str]:
        probing, numbers = collector(depth=depth), [0, 29, *(n for n in range(COUNT) if Script(SEED, n).fault)]
        await record_of(probing, remote(f"{fleet}/s/{numbers[0]}/mcp"))  # imports, and fills caches
        gc.collect()
        gc.disable()
        gc.set_debug(gc.DEBUG_SAVEALL)
        try:
            for number in numbers:
                await record_of(probing, remote(f"{fleet}/s/{number}/mcp"))
            gc.collect()
            return {f"{type(one).__module__}.{type(one).__qualname__}" for one in gc.garbage}
        finally:
            gc.set_debug(0)
            gc.garbage.clear()
            gc.enable()

    found = asyncio.run(find_garbage())
    assert not {name for name in found if name.startswith("crawler.")}  # the fleet shares this process
