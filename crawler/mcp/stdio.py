"""MCP over stdin and stdout of a launched process: one JSON text per line, with limits on lines and bytes."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Final

from msgspec import Struct

from crawler.http.connection import TIME_OVER
from crawler.http.failures import BudgetSpent, Malformed, TimedOut, TooLarge, Unreachable, WireFailure
from crawler.launcher import LaunchedServer, ProcessExit
from crawler.mcp import jsonrpc
from crawler.mcp.channel import Era, modern_params
from crawler.mcp.response_reader import is_utf8, quote_masked
from crawler.mcp.transcript import AnswerForm, Exchange, Piece, Reply, Transcript, append_pieces, message_piece
from evidence.canonical import Json

LINE_BYTES: Final = 4 * 1024 * 1024
TOTAL_BYTES: Final = 16 * 1024 * 1024
_LINES: Final = 20_000
_READ: Final = 64 * 1024
_LATE_SECONDS: Final = (0.15, 0.5)  # least and most seconds for an answer behind the one to the next request
_LATE_TIMES: Final = 100  # and between them so many times the seconds of that one
_ENDED: Final = "the process ended before answering"
_PASSED_OVER: Final = "no answer, but one to the ping after it"
_STOPPING: Final[set[asyncio.Future[ProcessExit]]] = set()  # keeps references, which the event loop does not
_UNSUPPORTED: Final[Mapping[str, Json]] = {"code": -32601, "message": "This client has no capabilities"}


class _Ping(Struct):
    """A ping behind a malformed line; times on the clock of the event loop. `line`: the one with its answer."""

    began: float
    body: bytes
    is_sent: bool = False
    answered: float = 0.0
    line: bytes = b""


class LineReader:
    """Splits bytes into lines, in linear time and with a limit on the length of a line."""

    def __init__(self, line_bytes: int = LINE_BYTES) -> None:
        self._cap = line_bytes
        self._partial: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that a chunk completes, without line ends; raise TooLarge beyond the limit."""
        *lines, rest = data.split(b"\n")
        if lines:
            lines[0] = b"".join([*self._partial, lines[0]])
            self._partial, self._size = [], 0
        self._partial.append(rest)
        self._size += len(rest)
        if self._size > self._cap or any(len(line) > self._cap for line in lines):
            raise TooLarge(f"a line of more than {self._cap} bytes")
        return lines

    @property
    def is_unfinished(self) -> bool:
        """Whether a line has begun."""
        return self._size > 0

    def finish(self) -> bytes:
        return b"".join(self._partial)


class StdioChannel:
    """The channel of a launched process. `noise`: beginnings of output lines that are not JSON."""

    transport: Final = "stdio"

    def __init__(
        self,
        launched: LaunchedServer,
        transcript: Transcript,
        client_version: str,
        *,
        seconds: float,
        total: float,
        line_bytes: int = LINE_BYTES,
    ) -> None:
        self._launched = launched
        self._transcript = transcript
        self._client_version = client_version
        self._seconds = seconds
        self._lines = LineReader(line_bytes)
        self._unread_lines: deque[tuple[float, bytes]] = deque()  # with the time at which the first byte was read
        self._line_at = self._answered = 0.0
        self._received: list[bytes] = []
        self._pieces: list[Piece] = []
        self._batch = False
        self._number = self._count = self._total = 0
        self._loop = asyncio.get_running_loop()
        self._born, self._stopped = self._loop.time(), 0.0
        self._end = self._born + total
        self.noise: list[bytes] = []
        self.exit: ProcessExit | None = None
        self.ended = False
        self.session: str | None = None
        self.assigned: str | None = None

    @property
    def left(self) -> float:
        """Seconds that remain of `total`."""
        return self._end - self._loop.time()

    def set_protocol_version(self, version: str | None) -> None:
        """Do nothing: stdio names no version after initialize."""

    async def send_request(
        self, method: str, params: Mapping[str, Json], era: Era, *, seconds: float | None = None
    ) -> Reply:
        """Write a request and read lines until its response."""
        self._number += 1
        sent = modern_params(params, self._client_version) if era is Era.MODERN else params
        return await self.send_raw(method, jsonrpc.encode_request(self._number, method, sent), seconds=seconds)

    def next_id(self) -> int:
        self._number += 1
        return self._number

    async def send_raw(self, label: str, body: bytes, *, seconds: float | None = None) -> Reply:
        """Write an encoded request and read lines until its response."""
        began = self._loop.time()
        answer: jsonrpc.RpcAnswer | None = None
        failure: WireFailure | None = None
        try:
            async with asyncio.timeout_at(min(began + (seconds or self._seconds), self._end)):
                answer = await self._converse(body)
        except TimeoutError:
            failure = self._explain_delay(seconds or self._seconds, began)
        except WireFailure as error:
            failure = error
        return Reply(self._record(label, body, began, failure), answer)

    async def send_malformed(self, label: str, body: bytes, *, seconds: float) -> Reply:
        """Write a line that need not be answered and then a ping, and read lines until both are answered.

        A process reads in order: once it has answered the ping, no other answer is expected. The ping is an exchange of
        its own, which comes first, since the last exchange of a step is its answer.
        """
        began, number = self._loop.time(), self._number
        end = min(began + seconds, self._end)
        found: list[jsonrpc.RpcAnswer] = []
        stopped: WireFailure | None = None
        ping = _Ping(began, jsonrpc.encode_request(self.next_id(), "ping", {}))
        try:
            async with asyncio.timeout_at(end) as waiting:
                await self._write(body)
                with suppress(Unreachable):  # it may have answered before it ended
                    await self._write(ping.body)
                    ping.is_sent = True
                await self._read_past_ping(number, found, waiting, ping)
        except TimeoutError:
            is_past_ping = waiting.when() != end
            stopped = TimedOut(_PASSED_OVER) if is_past_ping else self._explain_delay(seconds, began)
        except WireFailure as error:
            stopped = error
        if ping.is_sent:
            self._transcript.add(self._describe_ping(ping, None if ping.answered else stopped))
        return Reply(self._record(label, body, began, None if found else stopped), found[0] if found else None)

    async def send_notification(self, method: str) -> None:
        began = self._loop.time()
        body = jsonrpc.encode_notification(method)
        failure: WireFailure | None = None
        try:
            async with asyncio.timeout_at(min(began + self._seconds, self._end)):
                await self._write(body)
        except TimeoutError:
            failure = TimedOut("the server does not read its input")
        except WireFailure as error:
            failure = error
        self._record(method, body, began, failure)

    def record_in(self, transcript: Transcript) -> None:
        """Record further exchanges in another transcript."""
        self._transcript = transcript

    async def close_input(self, seconds: float) -> None:
        """Close stdin and record whether the process exits within `seconds`; unknown if less time was left."""
        began = self._loop.time()
        failure: WireFailure | None = None
        ended = False
        try:
            async with asyncio.timeout_at(min(began + seconds, self._end)):
                await self._launched.close_stdin()
                while True:
                    _, line = await self._next_line()
                    self._store_line(line, _messages(line))
        except TimeoutError:
            failure = BudgetSpent("the time for one process was over") if began + seconds > self._end else None
        except Unreachable:
            ended = True  # its output has ended
        except (BrokenPipeError, ConnectionError):
            ended = True
        except WireFailure as error:
            failure = error
        self._record("close", b"", began, failure, ended=None if failure else ended)

    async def close(self) -> None:
        """Stop the process and set `exit`. The process is stopped completely even if the caller is cancelled."""
        stopping = asyncio.ensure_future(self._launched.stop())
        _STOPPING.add(stopping)
        stopping.add_done_callback(_STOPPING.discard)
        self.exit = await asyncio.shield(stopping)
        self._stopped = self._stopped or self._loop.time()

    @property
    def lived(self) -> float:
        """Seconds from its start until it was stopped, or until now."""
        return (self._stopped or self._loop.time()) - self._born

    def _explain_delay(self, seconds: float, began: float) -> WireFailure:
        """The failure of a question that was not answered: not the server's if it had less time than `seconds`."""
        return BudgetSpent(TIME_OVER) if began + seconds > self._end else TimedOut(f"no answer within {seconds:g} s")

    async def _converse(self, body: bytes) -> jsonrpc.RpcAnswer:
        try:
            await self._write(body)
        except Unreachable:
            await self._read_last_words()
            raise
        while True:
            at, line = await self._next_line()
            messages = self._take_line(line)
            if answer := jsonrpc.pick_answer(messages, self._number, spent=self._number - 1):
                self._answered = at
                return answer
            for message in messages:
                await self._serve(message)

    async def _read_last_words(self) -> None:
        """Read what a process wrote before it stopped reading, which may say why. One that goes on is not awaited."""
        with suppress(TimeoutError, Unreachable):
            async with asyncio.timeout(_LATE_SECONDS[1]):
                while True:
                    _, line = await self._next_line()
                    self._take_line(line)

    async def _read_past_ping(
        self, number: int, found: list[jsonrpc.RpcAnswer], waiting: asyncio.Timeout, ping: _Ping
    ) -> None:
        """Read lines until the ping is answered, and a moment longer while nothing is `found` for request `number`."""
        others: list[bytes] = []
        is_read = False
        while not (is_read and found):
            at, line = await self._next_line()
            messages = _messages(line)
            if any(message.answer and str(message.id) == str(self._number) for message in messages):
                is_read, self._received = True, others
                ping.answered, ping.line = at, line
                least, most = _LATE_SECONDS
                late = min(most, max(least, _LATE_TIMES * (at - ping.began)))
                waiting.reschedule(min(waiting.when() or at, self._loop.time() + late))
                continue
            others.append(line + b"\n")
            self._store_line(line, messages)
            if not found and (answer := jsonrpc.pick_answer(messages, number, spent=number - 1)):
                found.append(answer)
                self._answered = at

    def _describe_ping(self, ping: _Ping, failure: WireFailure | None) -> Exchange:
        return Exchange(
            transport=self.transport,
            method="ping",
            request=ping.body,
            began=ping.began - self._born,
            seconds=(ping.answered or self._loop.time()) - ping.began,
            body=ping.line,
            form=AnswerForm.LINES if ping.line else AnswerForm.NONE,
            utf8=is_utf8(ping.line),
            batch=jsonrpc.is_batch(ping.line),
            received=tuple(message_piece(message) for message in _messages(ping.line)),
            failure=failure,
        )

    def _take_line(self, line: bytes) -> list[jsonrpc.RpcMessage]:
        """Store a line, as noise if it is no JSON, and return its messages."""
        messages = _messages(line)
        if not messages:
            self.noise.append(line[:200])
        self._store_line(line, messages)
        return messages

    def _store_line(self, line: bytes, messages: Sequence[jsonrpc.RpcMessage]) -> None:
        """Store a line as pieces; one that is not a JSON-RPC message becomes a text."""
        if messages and all(message.method is not None or message.answer for message in messages):
            self._batch |= jsonrpc.is_batch(line)
            append_pieces(self._pieces, [message_piece(message) for message in messages])
        else:
            append_pieces(self._pieces, [Piece(text=quote_masked(line))])

    async def _serve(self, message: jsonrpc.RpcMessage) -> None:
        """Answer a request of the server, which may wait for the answer: ping is served, all others are refused."""
        if message.method is None or message.id is None:
            return
        error = None if message.method == "ping" else _UNSUPPORTED
        with suppress(Unreachable):  # its own answer may be in what it wrote before it stopped reading
            await self._write(jsonrpc.encode_response(message.id, error=error))

    async def _write(self, body: bytes) -> None:
        try:
            await self._launched.write(body + b"\n")
        except (BrokenPipeError, ConnectionError) as error:
            self.ended = True
            raise Unreachable(_ENDED, connected=True) from error

    async def _next_line(self) -> tuple[float, bytes]:
        while not self._unread_lines:
            data = await self._launched.read(_READ)
            if not data:
                self.ended = True
                raise Unreachable(_ENDED, connected=True)
            self._received.append(data)
            self._total += len(data)
            if self._total > TOTAL_BYTES:
                raise TooLarge(f"more than {TOTAL_BYTES} bytes of output")
            now = self._loop.time()
            began = self._line_at if self._lines.is_unfinished else now
            lines = self._lines.feed(data)
            times = [began, *[now] * (len(lines) - 1)] if lines else []
            self._line_at = now if lines else began
            self._unread_lines.extend(pair for pair in zip(times, lines, strict=True) if pair[1].strip())
        self._count += 1
        if self._count > _LINES:
            raise TooLarge(f"more than {_LINES} lines of output")
        return self._unread_lines.popleft()

    def _record(
        self, method: str, body: bytes, began: float, failure: WireFailure | None, *, ended: bool | None = None
    ) -> Exchange:
        end = max(began, self._answered) if failure is None and self._answered else self._loop.time()
        self._answered = 0.0
        received = b"".join(self._received)
        exchange = Exchange(
            transport=self.transport,
            method=method,
            request=body,
            began=began - self._born,
            seconds=end - began,
            body=received,
            form=AnswerForm.LINES if self._pieces else AnswerForm.NONE,
            utf8=is_utf8(received),
            batch=self._batch,
            ended=ended,
            received=tuple(self._pieces),
            failure=failure,
        )
        self._received, self._pieces, self._batch = [], [], False
        self._transcript.add(exchange)
        return exchange


def _messages(line: bytes) -> list[jsonrpc.RpcMessage]:
    """The messages of a line; none if it is not JSON."""
    try:
        return jsonrpc.read_messages(line)
    except Malformed:
        return []
