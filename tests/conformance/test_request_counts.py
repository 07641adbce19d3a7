"""What `hallmark scan --help` says about the number of requests is what the control server gets."""

from __future__ import annotations

import asyncio
import re
from typing import Any

import pytest

from crawler.collectors.protocol import ProbeLimits
from tests.conformance.probing import Probed, look, prober
from tests.crawler.collectors.protocol.probing import remote
from tests.matrix.probing import CORE, FULL, probe
from tests.servers.conforming import LISTS, Upright
from tests.servers.control.running import control
from tests.servers.control.serving import Era
from tests.servers.hostile import Call, serving
from workers.cli.commands.measure.scan import scan

pytestmark = pytest.mark.xdist_group("controls")

[HELP] = [str(option.to_info_dict()["help"]) for option in scan.params if option.name == "full"]


def count_requests(transport: str, era: Era, depth: str) -> int:
    with control(transport, era) as target:
        probed = probe(target, depth)
    assert not probed.failure
    return probed.requests


@pytest.mark.parametrize(
    ("transport", "name"), [("streamable-http", "streamable HTTP"), ("sse", r"HTTP\+SSE"), ("stdio", "stdio")]
)
def test_the_help_states_how_many_requests_a_server_with_every_feature_gets(transport: str, name: str) -> None:
    stated = re.search(rf"(\d+) or (\d+)(?: requests)? over {name}", HELP)
    eras = [Era.DUAL] if transport == "sse" else list(Era)

    core = max(count_requests(transport, era, CORE) for era in eras)
    assert stated is not None
    assert (int(stated[1]), int(stated[2])) == (count_requests(transport, Era.DUAL, FULL), core)


def test_the_help_states_the_bounds_of_a_probe() -> None:
    limits = ProbeLimits()

    assert re.findall(r"at most (\d+)", HELP) == [str(limits.full_requests), str(limits.requests)]


class Costly(Upright):
    """A server of both eras that pages all lists and serves every host name and origin: it gets the most questions."""

    async def __call__(self, call: Call) -> None:
        """Answer one request."""
        call.headers.pop("origin", None)
        call.headers["host"] = "127.0.0.1:80"
        self._cursor = call.message.get("params", {}).get("cursor")
        if self._cursor == "second":
            call.body = call.body.replace(b'"cursor":"second"', b'"cursor":null')
        await super().__call__(call)

    async def send(self, call: Call, message: Any, *headers: tuple[str, str], status: int = 200) -> None:
        """Send a message as JSON, with a cursor on the first page of a list."""
        if call.method in LISTS and "result" in message and self._cursor is None:
            message = {**message, "result": {**message["result"], "nextCursor": "second"}}
        await super().send(call, message, *headers, status=status)


def test_a_full_probe_asks_every_question_of_the_costliest_server() -> None:
    async def run() -> Probed:
        async with serving(Costly()) as url:
            return await look(prober(), remote(url))

    asked = asyncio.run(run()).talk()
    assert len([one for one in asked if one.step.startswith("cursor-invented")]) == 8
    assert [one.step for one in asked if one.failure] == []
