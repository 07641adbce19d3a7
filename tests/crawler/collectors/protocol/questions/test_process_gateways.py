"""A server that seems to start a process for each request is asked only what a core probe asks."""

from __future__ import annotations

import asyncio

import pytest

from crawler.collectors.protocol.questions import process_gateways
from crawler.mcp.transcript import Exchange, NamedExchange
from evidence.model import Reason, Record
from tests.crawler.collectors.protocol.probing import absent, collector, records_of, remote, talk
from tests.servers.hostile import OPENING, TOOLS, Call, Mcp, serving

EXPRESS = ("X-Powered-By", "Express")
CORE = ["initialize", "notifications/initialized", "tools/list", "resources/list", "resources/templates/list"]


class Gateway:
    """A server on a framework, whose opening has the further headers `session`."""

    def __init__(self, *session: tuple[str, str], framework: tuple[str, str] = EXPRESS) -> None:
        self.asked: list[str] = []
        self._session = session
        self._framework = framework

    async def __call__(self, call: Call) -> None:
        """Answer one request."""
        self.asked.append(call.method)
        results = {
            "initialize": {**OPENING, "capabilities": {"tools": {}, "resources": {}}},
            "tools/list": {"tools": TOOLS},
            "resources/list": {"resources": [{"uri": "note://one", "name": "one"}]},
            "resources/templates/list": {"resourceTemplates": []},
        }
        if call.method in results:
            await call.result(results[call.method], self._framework, *self._session)
        else:
            await Mcp()(call)


def probe_full(server: Gateway) -> dict[str, Record]:
    async def run() -> dict[str, Record]:
        async with serving(server) as url:
            return await records_of(collector(depth="full"), remote(url))

    return asyncio.run(run())


@pytest.fixture
def _every_list_is_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_gateways, "_START_SECONDS", -60.0)


@pytest.mark.usefixtures("_every_list_is_slow")
def test_a_full_probe_asks_only_what_core_asks_and_records_the_rest_as_not_asked() -> None:
    server = Gateway()

    records = probe_full(server)

    assert [name for name in server.asked if name != "GET"] == CORE
    skipped = {one.step for one in talk(records).exchanges if one.failure == "not_collected"}
    assert {"ping", "unknown-method", "malformed"} <= skipped
    handouts = absent(records["handouts"])
    assert (handouts.reason, handouts.detail) == (Reason.NOT_COLLECTED, process_gateways.RESTRAINT)


@pytest.mark.usefixtures("_every_list_is_slow")
@pytest.mark.parametrize(
    "server",
    [Gateway(("Mcp-Session-Id", "0123456789abcdef")), Gateway(framework=("Server", "uvicorn"))],
    ids=["with a session", "not on Express"],
)
def test_other_servers_with_slow_lists_are_asked_everything(server: Gateway) -> None:
    assert all(one.failure != "not_collected" for one in talk(probe_full(server)).exchanges)
    assert "resources/read" in server.asked


@pytest.mark.parametrize(
    ("acknowledged", "lists", "slow"),
    [
        (0.02, [0.3, 0.4], True),
        (0.02, [0.4, 0.03], False),
        (0.30, [0.35], False),  # far away
        (0.30, [0.05], False),
        (None, [0.4], False),
        (0.02, [], False),
    ],
)
def test_lists_are_slow_when_the_quickest_takes_as_long_as_the_start_of_a_process(
    acknowledged: float | None, lists: list[float], slow: bool
) -> None:
    rows = [] if acknowledged is None else [row("initialized", 202, acknowledged)]
    rows += [row(f"list-{number}", 200, seconds) for number, seconds in enumerate(lists)]
    assert process_gateways.has_slow_lists(rows) is slow


def row(step: str, status: int, seconds: float) -> NamedExchange:
    headers = (("x-powered-by", "Express"),)
    exchange = Exchange(
        transport="streamable-http", method="", request=b"", began=0, seconds=seconds, status=status, headers=headers
    )
    return NamedExchange(step, 0, 0, exchange)
