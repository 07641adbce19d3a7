"""A malformed line is followed by a ping, whose answer shows that the line was read and ends the wait."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from crawler.launcher import ProcessExit
from crawler.mcp.stdio import LINE_BYTES, StdioChannel
from crawler.mcp.transcript import Exchange, Reply, Transcript
from evidence.canonical import Json

MALFORMED = b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{'
REFUSAL = {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error"}}
PONG = {"jsonrpc": "2.0", "id": 2, "result": {}}


class Scripted:
    """A process that writes the same messages once it was asked so many times, and then ends or is silent."""

    runtime = "none"
    facts: Mapping[str, Json] = {}

    def __init__(self, messages: Sequence[Any], *, after: int = 2, ends: bool = False) -> None:
        self._output = b"".join(json.dumps(one).encode() + b"\n" for one in messages)
        self._after, self._ends = after, ends
        self.asked: list[bytes] = []

    async def write(self, data: bytes) -> None:
        if self._ends and len(self.asked) == self._after:
            raise BrokenPipeError
        self.asked.append(data)

    async def read(self, size: int) -> bytes:
        output, self._output = self._output, b""
        if not output and not self._ends:
            await asyncio.Event().wait()
        return output

    async def close_stdin(self) -> None:
        raise AssertionError

    async def stop(self) -> ProcessExit:
        raise AssertionError


def ask(process: Scripted, seconds: float = 60) -> tuple[Reply, Exchange, float]:
    reply, exchanges, waited = ask_all(process, seconds)
    return reply, exchanges[-1], waited


def ask_all(process: Scripted, seconds: float = 60) -> tuple[Reply, list[Exchange], float]:
    async def run() -> tuple[Reply, list[Exchange], float]:
        transcript, clock = Transcript(), asyncio.get_running_loop().time
        channel = StdioChannel(process, transcript, "0", seconds=60, total=120)
        channel.next_id()
        began = clock()
        reply = await channel.send_malformed("ping", MALFORMED, seconds=seconds)
        return reply, transcript.exchanges, clock() - began

    return asyncio.run(run())


def test_a_process_that_answers_the_next_request_is_waited_for_no_longer() -> None:
    reply, exchange, seconds = ask(process := Scripted([PONG]))

    assert [json.loads(line)["method"] for line in process.asked[1:]] == ["ping"]
    assert reply.answer is None
    assert exchange.failure is not None
    assert (exchange.failure.reason.value, exchange.received, exchange.body) == ("timeout", (), b"")
    assert exchange.failure.detail == "no answer, but one to the ping after it"
    assert seconds < 10


@pytest.mark.parametrize("messages", [[REFUSAL, PONG], [PONG, REFUSAL]], ids=["in order", "late"])
def test_an_answer_is_taken_before_and_shortly_after_that_to_the_ping(messages: list[Any]) -> None:
    reply, exchange, _ = ask(Scripted(messages))

    assert reply.answer is not None
    assert reply.answer.is_error
    assert (exchange.failure, exchange.request) == (None, MALFORMED)
    assert exchange.body == json.dumps(REFUSAL).encode() + b"\n"


def test_the_answer_of_a_process_that_answers_no_ping_is_kept() -> None:
    reply, exchange, _ = ask(Scripted([REFUSAL]), seconds=0.05)

    assert reply.answer is not None
    assert exchange.failure is None


def test_the_answer_of_a_process_that_ends_at_the_line_is_kept() -> None:
    reply, exchange, _ = ask(Scripted([REFUSAL], after=1, ends=True))

    assert reply.answer is not None
    assert exchange.failure is None


def test_a_process_that_ends_at_the_line_is_recorded_as_ended() -> None:
    _, exchange, _ = ask(Scripted([], ends=True))

    assert exchange.failure is not None
    assert exchange.failure.reason.value == "unreachable"


def test_a_silent_process_has_the_given_time() -> None:
    _, exchange, seconds = ask(Scripted([]), seconds=0.05)

    assert exchange.failure is not None
    assert "0.05 s" in str(exchange.failure)
    assert seconds >= 0.05


def test_the_ping_is_an_exchange_of_its_own() -> None:
    _, [ping, line], _ = ask_all(process := Scripted([PONG]))

    assert (ping.request, line.request) == (process.asked[1].rstrip(), MALFORMED)
    assert (ping.method, ping.failure, ping.body) == ("ping", None, json.dumps(PONG).encode())
    assert [piece.is_answer for piece in ping.received] == [True]
    assert 0 <= ping.seconds <= line.seconds


def test_a_ping_without_an_answer_says_why() -> None:
    _, [silent, _], _ = ask_all(Scripted([REFUSAL]), seconds=0.05)
    _, [ended, _], _ = ask_all(Scripted([], ends=True))
    _, [drowned, _], _ = ask_all(Scripted([REFUSAL, {"method": "x" * LINE_BYTES}]))

    why = [str(one.failure and one.failure.reason.value) for one in (silent, ended, drowned)]
    assert why == ["timeout", "unreachable", "too_large"]


def test_a_ping_that_could_not_be_sent_is_no_exchange() -> None:
    _, exchanges, _ = ask_all(Scripted([REFUSAL], after=1, ends=True))

    assert [one.request for one in exchanges] == [MALFORMED]
