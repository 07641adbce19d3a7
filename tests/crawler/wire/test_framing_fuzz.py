"""Framing survives bytes of any kind: no exception but a WireFailure, no hang, and chunking changes nothing.

The long run is `make soak`; HALLMARK_FUZZ_SECONDS (600) says how long.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crawler.collectors.protocol import ProbeLimits
from crawler.http.address_guard import AddressGuard
from crawler.http.connection import Limits
from crawler.http.engine import HttpEngine, Request
from crawler.http.failures import Malformed, TooLarge, WireFailure
from crawler.http.url import parse_url
from crawler.mcp import jsonrpc
from crawler.mcp.event_stream import Event, EventReader
from crawler.mcp.stdio import LineReader
from evidence.canonical import NotJson, check_bounds
from evidence.model import Absent, Dossier, Record, Server, Target, TargetType
from tests.conformance.probing import prober
from tests.crawler.collectors.protocol.probing import AGENT, NOW, remote
from tests.crawler.wire.fuzzing import ANSWERS, CUTS, Bent, answering, as_stream, bend, bends, message, pieces
from tests.servers.hostile import Behaviour, Call, serving

SLOWEST = 25.0
HASTY = Limits(connect=2, first_byte=0.2, between_bytes=0.2, total=0.4)
HASTY_PROBE = ProbeLimits(discover=0.2, total=3, stdio_answer=0.2, retry_pause=0)
TALES = Counter[str]()


def events_of(parts: Sequence[bytes]) -> list[Event]:
    reader = EventReader()
    return [event for part in parts for event in reader.feed(part)] + reader.finish()


def check_events(changes: Any, cuts: Any, body: bytes) -> None:
    data = bend(as_stream(message("tools/list")).partition(b"\r\n\r\n")[2], changes) + body

    assert events_of(pieces(data, cuts)) == events_of([data] if data else [])


def check_messages(changes: Any, cuts: Any, body: bytes) -> None:
    data = bend(message("tools/list"), changes) or body
    try:
        found = jsonrpc.read_messages(data)
    except (Malformed, TooLarge):
        TALES["not JSON"] += 1
        found = []
    jsonrpc.pick_answer(found, 2, spent=1)
    with contextlib.suppress(ValueError, NotJson, RecursionError):
        check_bounds(data, max_depth=jsonrpc.MAX_MESSAGE_DEPTH)
        whole = json.loads(data.decode("utf-8"), parse_constant=float)
        if json.dumps(whole, allow_nan=False):
            assert len(found) == (len(whole) if isinstance(whole, list) else 1), data


def check_lines(changes: Any, cuts: Any, body: bytes) -> None:
    data = bend(message("initialize") + b"\n" + message("ping"), changes) + body
    reader = LineReader(line_bytes=400)
    lines: list[bytes] = []
    try:
        for part in pieces(data, cuts):
            lines += reader.feed(part)
    except TooLarge:
        assert any(len(line) > 400 for line in data.split(b"\n"))
    else:
        assert [*lines, reader.finish()] == data.split(b"\n")


class Loopback:
    """One server and one engine for many examples: its behaviour is exchanged, the port stays."""

    def __init__(self) -> None:
        self._runner = asyncio.Runner()
        self._stack = contextlib.AsyncExitStack()
        self.behaviour: Behaviour = answering(as_stream, (), ())
        self.url = self._runner.run(self._stack.enter_async_context(serving(self._behave)))
        limits = Limits(connect=2, first_byte=1, between_bytes=1, total=2)
        self.engine = HttpEngine(user_agent=AGENT, guard=AddressGuard(allow_private=True), limits=limits)

    async def _behave(self, call: Call) -> None:
        await self.behaviour(call)

    def run(self, work: Any) -> Any:
        """Run a coroutine, which must end in time."""
        began = time.monotonic()
        result = self._runner.run(asyncio.wait_for(work, SLOWEST * 4))
        assert time.monotonic() - began < SLOWEST * 4
        return result

    def close(self) -> None:
        """Stop the server."""
        self._runner.run(self._stack.aclose())
        self._runner.close()


@pytest.fixture(scope="module")
def loopback() -> Iterator[Loopback]:
    server = Loopback()
    yield server
    server.close()


def check_engine(server: Loopback, form: int, changes: Any, cuts: Any) -> None:
    server.behaviour = answering(ANSWERS[form], changes, cuts)

    async def fetch() -> None:
        async with server.engine.open_session() as visit:
            try:
                answer = await visit.fetch(Request("POST", parse_url(server.url), (), message("tools/list")))
                TALES[f"HTTP {answer.status // 100}xx"] += 1
            except WireFailure as failure:
                TALES[type(failure).__name__] += 1

    server.run(asyncio.wait_for(fetch(), SLOWEST))


def check_probe(server: Loopback, form: int, changes: Any, cuts: Any) -> None:
    """A full probe, over HTTP, over HTTP+SSE and over pipes in memory."""
    server.behaviour = answering(ANSWERS[form], changes, cuts)
    collected = prober(limits=HASTY, probe=HASTY_PROBE, launcher=Bent(changes, cuts))
    target = (
        remote(server.url),
        remote(server.url, TargetType.SSE),
        Target(type=TargetType.COMMAND, identifier=".", arguments=("bent",)),
    )[form]

    asked = Server(ref="test", name="test", targets=(target,))
    records: list[Record] = server.run(collected.collect(asked, Dossier(server=asked, as_of=NOW)))

    assert records
    for record in records:
        outcome = record.content
        TALES[outcome.reason.value if isinstance(outcome, Absent) else f"{record.kind} observed"] += 1


FRAMING: Sequence[Callable[[Any, Any, bytes], None]] = (check_events, check_messages, check_lines)
WIRE: Sequence[Callable[[Loopback, int, Any, Any], None]] = (check_engine, check_probe)
BODIES = st.binary(max_size=200)
ANSWERED = st.tuples(st.integers(0, 2), bends(), CUTS)


def short(examples: int) -> settings:
    return settings(max_examples=examples, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def wired(check: Callable[[Loopback, int, Any, Any], None], loopback: Loopback, chosen: settings) -> None:
    """Run one of the checks that need a server."""

    def example(drawn: Any) -> None:
        check(loopback, *drawn)

    chosen(given(ANSWERED)(example))()


@pytest.mark.parametrize("check", FRAMING)
def test_framing_reads_bent_bytes(check: Callable[[Any, Any, bytes], None]) -> None:
    short(150)(given(bends(), CUTS, BODIES)(check))()


def test_the_engine_reads_bent_answers(loopback: Loopback) -> None:
    wired(check_engine, loopback, short(100))


def test_a_probe_of_a_server_that_bends_its_answers_ends_with_a_record(loopback: Loopback) -> None:
    wired(check_probe, loopback, short(20))


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_framing_holds_for_minutes(loopback: Loopback, capsys: pytest.CaptureFixture[str]) -> None:
    seconds = float(os.environ.get("HALLMARK_FUZZ_SECONDS", "600"))
    long = settings(max_examples=500, derandomize=False, suppress_health_check=list(HealthCheck))
    end, ran = time.monotonic() + seconds, 0
    TALES.clear()
    while time.monotonic() < end:
        for check in FRAMING:
            long(given(bends(), CUTS, BODIES)(check))()
        for check_wire in WIRE:
            wired(check_wire, loopback, settings(long, max_examples=200))
        ran += 1_900
    with capsys.disabled():
        print(f"\n{ran} examples in {seconds:.0f} s: {dict(TALES.most_common())}")  # noqa: T201
