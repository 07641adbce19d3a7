"""Of a server that answers a question and then serves no client, no question that may be the cause is asked again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any, Final, cast

import pytest
from msgspec.structs import replace

from crawler.collectors.protocol.probes.probe import SPARED, ProbeDependencies, ProbeOptions, ProbeResult
from crawler.collectors.protocol.questions.selection import QuestionSelection
from crawler.collectors.protocol.stdio.port_probe import PortProbe
from crawler.http.address_guard import AddressGuard
from crawler.http.engine import HttpEngine
from crawler.http.rate_limiting import HostRateLimiter
from crawler.launcher import LaunchedServer
from evidence.kinds import falls, listing, trials
from evidence.kinds.falls import Falls
from evidence.kinds.trials import Trials
from evidence.model import Absent, Observed, Record, Target, TargetType
from tests.crawler.collectors.protocol.probing import (
    AGENT,
    BRISK,
    BRISK_PROBE,
    NOW,
    PROBE,
    WIRE,
    Timekeeper,
    collector,
    records_of,
    remote,
    talk,
)
from tests.servers.conforming import Upright
from tests.servers.hostile import OPENING, Call, Mcp, serving

SESSION: Final = "01234567-89ab-4cde-8f01-23456789abcd"
TOOL: Final = {
    "name": "get_weather",
    "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    "annotations": {"readOnlyHint": True},
}


def tool(call: Call) -> str:
    return str(call.message["params"]["name"]) if call.method == "tools/call" else ""


def is_mistaken(call: Call) -> bool:
    return tool(call) == TOOL["name"] and not isinstance(call.message["params"]["arguments"].get("city"), str)


def offers_unknown_version(call: Call) -> bool:
    return call.headers.get("mcp-protocol-version", "2").startswith(("19", "200", "201"))


CAUSES: Final[Mapping[str, Callable[[Call], bool]]] = {
    "legacy/call": lambda call: tool(call) == TOOL["name"] and not is_mistaken(call),
    "legacy/call-mistaken": is_mistaken,
    "legacy/call-nonexistent": lambda call: tool(call) not in {"", TOOL["name"]},
    "legacy/version-unknown": offers_unknown_version,
    "legacy/initialize-origin": lambda call: call.headers.get("origin", "").endswith(".example"),
    "legacy/stream": lambda call: call.verb == "GET" and call.path == "/mcp",
    "legacy/metadata": lambda call: call.path.startswith("/.well-known"),
    "legacy/end": lambda call: call.verb == "DELETE",
    "modern/discover": lambda call: call.method == "server/discover",
}


@dataclass
class Falling:
    """A server that answers the question `cause` as usual, and every later request with `state` and `body`."""

    cause: str
    state: int = 500
    body: bytes = b"down"
    version: str = "1"
    fallen: bool = False
    calls: list[Call] = field(default_factory=list)

    async def __call__(self, call: Call) -> None:
        """Answer one request."""
        self.calls.append(call)
        if self.fallen:
            await call.reply(self.state, self.body)
            return
        self.fallen = self.cause in CAUSES and CAUSES[self.cause](call)
        server = {"name": "fixture", "version": self.version}
        opening = {**OPENING, "protocolVersion": "2025-11-25", "serverInfo": server}
        if call.method == "initialize":
            await call.result(opening, ("mcp-session-id", SESSION))
        elif call.method == "tools/list":
            await call.result({"tools": [TOOL]})
        elif tool(call) == TOOL["name"]:
            await call.result({"content": [{"type": "text", "text": "sun"}], "isError": is_mistaken(call)})
        else:
            await Mcp()(call)


def probed(
    server: Any, earlier: Mapping[str, Record] | None = None, depth: str = "full", *, at: datetime = NOW
) -> dict[str, Record]:
    async def run() -> dict[str, Record]:
        async with serving(server) as url:
            known = dict(earlier or {})
            return await records_of(collector(depth=depth, at=at), remote(url), earlier=known)

    return asyncio.run(run())


def read_falls(records: Mapping[str, Record]) -> Falls:
    content = records[falls.KIND].content
    assert isinstance(content, Observed)
    return Falls.parse(content.body)


def fallen(records: Mapping[str, Record]) -> set[str]:
    return {fall.question for fall in read_falls(records).falls}


def kinds_of_calls(records: Mapping[str, Record]) -> list[str]:
    content = records[trials.KIND].content
    assert isinstance(content, Observed)
    return [str(row.kind) for row in Trials.parse(content.body).trials]


@pytest.mark.parametrize("cause", sorted(CAUSES))
@pytest.mark.parametrize(("state", "body"), [(500, b"down"), (200, b"")])
def test_the_cause_of_a_fall_is_recorded_and_never_asked_again(cause: str, state: int, body: bytes) -> None:
    first, second = Falling(cause, state, body), Falling(cause, state, body)
    records = probed(first)
    assert first.fallen
    assert cause in fallen(records)
    again = probed(second, records)
    assert not second.fallen
    assert cause in fallen(again)
    assert isinstance(again["listing"].content, Observed)


def test_nothing_follows_a_fall() -> None:
    server = Falling("legacy/call-mistaken")
    probed(server)
    at = next(place for place, call in enumerate(server.calls) if is_mistaken(call))
    assert [call.method for call in server.calls[at + 1 :]] == ["tools/call", "initialize", "initialize"]


def test_a_question_that_a_fresh_client_survived_is_no_suspect() -> None:
    assert fallen(probed(Falling("legacy/call-nonexistent"))) <= {
        "legacy/call-mistaken",
        "legacy/call-nonexistent",
        "legacy/version-unknown",
        "legacy/end",
    }


def test_a_transcript_does_not_tell_which_suspect_it_was() -> None:
    causes = ("legacy/call-mistaken", "legacy/call-nonexistent", "legacy/initialize-origin")
    records = [probed(Falling(cause)) for cause in causes]
    steps = [[(one.step, one.status) for one in talk(each).exchanges] for each in records]
    assert steps[0] == steps[1] == steps[2]
    assert "call-nonexistent" not in {step for step, _ in steps[0]}
    assert [kinds_of_calls(each) for each in records] == [["call"]] * 3


def test_a_fall_under_a_call_is_found_in_a_core_probe_and_its_calls_are_not_shown() -> None:
    class Broken(Falling):
        async def __call__(self, call: Call) -> None:
            self.fallen = self.fallen or CAUSES[self.cause](call)
            await super().__call__(call)

    records = probed(Broken("legacy/call"), depth="core")
    assert "legacy/call" in fallen(records)
    assert records[trials.KIND].content == Absent(records[trials.KIND].content.reason, SPARED)  # type: ignore[union-attr]
    assert "500" not in json.dumps(dict(records["listing"].observation), default=str)
    again = Broken("legacy/call")
    probed(again, records, "core")
    assert not again.fallen


def test_a_core_probe_finds_a_fall_under_its_one_unusual_question_and_asks_it_of_no_closed_server() -> None:
    records = probed(Falling("modern/discover"), depth="core")
    assert fallen(records) == {"modern/discover"}
    closed = Falling("", fallen=True)
    assert fallen(probed(closed, records, "core")) == {"modern/discover"}
    assert {call.method for call in closed.calls} == {"initialize"}


def test_a_core_probe_opens_a_server_that_serves_only_once() -> None:
    server = Falling("")
    probed(server, depth="core")
    assert sum(call.method == "initialize" for call in server.calls) == 1


@dataclass
class OneClient(Falling):
    """A server that answers every opening with `state` while a session is open, and serves that session."""

    open: bool = False

    async def __call__(self, call: Call) -> None:
        """Answer one request."""
        if call.method == "initialize" and self.open:
            self.calls.append(call)
            await call.reply(self.state, self.body)
            return
        self.open = call.verb != "DELETE" and (self.open or call.method == "initialize")
        await super().__call__(call)


@pytest.mark.parametrize("depth", ["core", "full"])
@pytest.mark.parametrize("state", [500, 503, 400])
def test_a_server_that_serves_one_client_at_a_time_has_not_fallen(state: int, depth: str) -> None:
    server = OneClient("", state=state)
    records = probed(server, depth=depth)
    assert fallen(records) == set()
    assert server.open is False
    if depth == "full":  # what is not risky is asked nevertheless
        assert any(tool(call) not in {"", TOOL["name"]} for call in server.calls)
        assert not any(call.verb == "POST" and call.message is None for call in server.calls)


def test_a_server_that_serves_one_client_falls_when_its_session_breaks_too() -> None:
    assert "legacy/call-nonexistent" in fallen(probed(OneClient("legacy/call-nonexistent")))


def test_a_tool_that_keeps_a_server_busy_is_no_fall() -> None:
    class Busy(Falling):
        async def __call__(self, call: Call) -> None:
            if self.fallen or tool(call) == TOOL["name"]:
                self.fallen = True
                await asyncio.sleep(30)
            await super().__call__(call)

    assert fallen(probed(Busy(""))) == set()


@pytest.mark.parametrize(
    "correct",
    [Falling(""), Upright(), Upright(modern=False), Upright(legacy=False)],
    ids=["one session", "both eras", "legacy era", "modern era"],
)
def test_a_server_that_is_slow_in_all_it_does_has_not_fallen(correct: Any) -> None:
    async def slow(call: Call) -> None:
        await asyncio.sleep((BRISK_PROBE.discover + BRISK.first_byte) / 2)
        await correct(call)

    async def run() -> dict[str, Record]:
        async with serving(slow) as url:
            return await records_of(collector(brisk=True, limits=BRISK_PROBE), remote(url))

    found = asyncio.run(run())
    assert isinstance(found[listing.KIND].content, Observed)
    assert fallen(found) == set()


def test_a_core_probe_makes_no_mistake_and_keeps_the_answers_of_the_full_one() -> None:
    full = probed(Falling(""))
    assert kinds_of_calls(full) == ["call", "invalid_type", "missing_required"]
    server = Falling("")
    core = probed(server, full, "core")
    assert not any(is_mistaken(call) for call in server.calls)
    assert core[trials.KIND].content == full[trials.KIND].content
    assert kinds_of_calls(probed(Falling(""), core, "core")) == kinds_of_calls(full)
    assert kinds_of_calls(probed(Falling(""), depth="core")) == ["call"]


@pytest.mark.parametrize(
    ("server", "days"),
    [(Falling("", version="2"), 1), (Falling(""), 15)],
    ids=["another version", "too old"],
)
def test_answers_to_mistakes_of_another_version_or_long_ago_are_not_kept(server: Falling, days: int) -> None:
    core = probed(server, probed(Falling("")), "core", at=NOW + timedelta(days=days))
    assert kinds_of_calls(core) == ["call"]


def test_a_re_test_of_a_call_makes_its_mistakes_again() -> None:
    server = Falling("")

    async def run() -> dict[str, Record]:
        chosen = QuestionSelection.for_findings(["trials/get_weather"])
        async with serving(server) as url:
            return await records_of(collector(chosen=chosen), remote(url))

    assert kinds_of_calls(asyncio.run(run())) == ["call", "invalid_type", "missing_required"]
    assert sum(is_mistaken(call) for call in server.calls) == 2


@pytest.mark.parametrize(
    ("revision", "session", "stream", "is_spared"),
    [
        ("2024-11-05", "fd0df84493a546b38863f0dfe187880c", False, True),
        ("2025-03-26", "", True, True),
        ("2025-03-26", "", False, False),
        ("2025-03-26", "fd0df84493a516b38863f0dfe187880c", False, False),  # no random UUID
        ("2025-06-18", "fd0df84493a546b38863f0dfe187880c", True, False),
    ],
)
def test_a_version_that_falls_is_known_by_its_session_or_its_stream(
    revision: str, session: str, stream: bool, is_spared: bool
) -> None:
    """Python SDK 1.8 and 1.9 declare no `experimental` when the server states its own capabilities."""
    asked: list[str] = []

    async def serve(call: Call) -> None:
        asked.append(call.method)
        if call.method != "initialize":
            await Mcp()(call)
            return
        headers = [("mcp-session-id", session)] if session else []
        message = {"jsonrpc": "2.0", "id": call.message["id"], "result": {**OPENING, "protocolVersion": revision}}
        if stream:
            event = f"event: message\r\ndata: {json.dumps(message)}\r\n\r\n".encode()
            await call.reply(200, event, ("content-type", "text/event-stream"), *headers)
        else:
            await call.reply(200, json.dumps(message).encode(), ("content-type", "application/json"), *headers)

    probed(serve)
    unknown = [name for name in asked if name and name.split("/")[0] not in {"initialize", "notifications", "ping"}]
    assert ("resources/list" not in unknown) is is_spared


def test_a_package_that_listens_is_asked_in_its_sandbox_what_it_falls_under_and_that_is_recorded() -> None:
    known: Record | None = None

    async def run(server: Falling) -> ProbeResult:
        engine = HttpEngine(user_agent=AGENT, guard=AddressGuard(allow_private=True), limits=WIRE)
        hand = Timekeeper()
        limiter = HostRateLimiter(tick=hand.tick, sleep=hand.sleep)
        shared = ProbeDependencies(limiter=limiter, clock=lambda: NOW, limits=PROBE, client_version="0")
        launched = cast("LaunchedServer", SimpleNamespace(runtime="gvisor", facts={}))
        package = Target(type=TargetType.PYPI, identifier="fixture")
        async with serving(server) as url:
            probe = PortProbe(engine, shared, ProbeOptions(depth="full"), package, launched)
            probe.known_falls = known
            return await probe.run(remote(url))

    for _ in range(2):
        server = Falling("legacy/call-nonexistent")
        found = asyncio.run(run(server))
        assert server.fallen
        assert found.falls is not None
        content = found.falls[0]
        assert isinstance(content, Observed)
        assert "legacy/call-nonexistent" in {fall.question for fall in Falls.parse(content.body).falls}
        known = replace(probed(Falling(""), depth="core")[falls.KIND], content=content)
