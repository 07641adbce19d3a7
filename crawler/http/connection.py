"""One HTTP/1.1 client connection on asyncio and httptools, that counts every byte and bounds every wait."""

from __future__ import annotations

import asyncio
import ssl
from collections import deque
from typing import Any, Final

import httptools
from msgspec import Struct

from crawler.http.failures import BudgetSpent, Malformed, TimedOut, TlsFailure, TooLarge, Unreachable, WireFailure

TIME_OVER: Final = "the time for one server was over"
"""Detail of a request that had less time than its limits allow, because it was late in a session."""

_HIGH_WATER: Final = 256 * 1024
_NO_TLS: Final = frozenset({"HTTP_REQUEST", "RECORD_LAYER_FAILURE", "UNKNOWN_PROTOCOL", "WRONG_VERSION_NUMBER"})
"""What versions of OpenSSL and Python call bytes that are no TLS, such as plain HTTP on the port of HTTPS."""


class Limits(Struct, frozen=True, kw_only=True):
    """Deadlines in seconds and limits in bytes of one request and its response.

    `wire_bytes` counts all bytes received, including headers and chunk framing. `head_bytes` counts the bytes between
    two parts of the body, which bounds endless headers, trailers, interim responses and chunk extensions.
    """

    connect: float = 10.0
    first_byte: float = 30.0
    between_bytes: float = 15.0
    total: float = 60.0
    head_bytes: int = 64 * 1024
    wire_bytes: int = 4 * 1024 * 1024
    body_bytes: int = 8 * 1024 * 1024


class Head(Struct, frozen=True):
    """Status and headers of a response; names in lower case, values decoded as Latin-1."""

    status: int
    headers: tuple[tuple[str, str], ...]

    def get(self, name: str) -> str:
        """The first value of a header, or the empty string."""
        for key, value in self.headers:  # a generator would cost several times as much
            if key == name:
                return value
        return ""


class Connection(asyncio.Protocol):
    """An HTTP/1.1 connection that sends one request at a time. Its public methods raise only WireFailure."""

    def __init__(self, limits: Limits) -> None:
        self._loop = asyncio.get_running_loop()
        self._limits = limits
        self._transport: Any = None
        self._parser: Any = None
        self._waiter: asyncio.Future[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0.0
        self._failure: WireFailure | None = None
        self._closed = False
        self._in_flight = False
        self.responses = 0
        self._reset(bodiless=False)

    def _reset(self, *, bodiless: bool) -> None:
        self._head: Head | None = None
        self._pairs: list[tuple[str, str]] = []
        self._chunks: deque[tuple[float, bytes]] = deque()  # with the time of their arrival
        self.arrived = self._received_at = 0.0
        self._buffered = 0
        self._complete = self._keep_alive = False
        self._interim = self._surplus = False
        self._paused = False
        self._bodiless = bodiless
        self._has_body = False
        self._wire = self._overhead = 0

    @property
    def reusable(self) -> bool:
        """True if the last response was read to its end and the peer keeps the connection open."""
        return self._keep_alive and not self._closed and not self._bodiless and not self._surplus

    @property
    def tls(self) -> ssl.SSLObject | None:
        """The state of TLS; None without TLS, and once the connection is closed."""
        return self._transport.get_extra_info("ssl_object") if self._transport is not None else None

    @property
    def silent(self) -> bool:
        """True while no byte of the current response has arrived."""
        return self._wire == 0

    def send(
        self, data: bytes, *, limits: Limits, deadline: float, is_cut: bool = False, bodiless: bool = False
    ) -> None:
        """Write a request. `deadline` is in the event loop's time; `bodiless`: the response has no body (HEAD).

        `is_cut`: the deadline gives the response less time than its limits, so that to miss it is no failure of the
        peer.
        """
        self._limits = limits
        self._reset(bodiless=bodiless)
        self._in_flight = True
        now = self._loop.time()
        self._deadline, self._quiet = deadline, now + limits.first_byte
        self._is_cut = is_cut
        self._schedule()
        self._transport.write(data)

    async def head(self) -> Head:
        """Wait for the status and the headers of the response."""
        while self._head is None:
            await self._wait()
        return self._head

    async def chunk(self) -> bytes:
        """The next bytes of the body that arrived together, still encoded; empty at its end. Sets `arrived`."""
        while not self._chunks:
            if self._complete:
                return b""
            self._resume()
            await self._wait()
        self.arrived, data = self._chunks.popleft()
        if self._chunks and self._chunks[0][0] == self.arrived:
            parts = [data]
            while self._chunks and self._chunks[0][0] == self.arrived:
                parts.append(self._chunks.popleft()[1])
            data = b"".join(parts)
        self._buffered -= len(data)
        return data

    def finish(self) -> None:
        """End the exchange after a response was read to its end. The timer stays for the next request."""
        self._in_flight = False

    def abort(self) -> None:
        """Close the connection at once, without waiting for a TLS close."""
        self._closed = True
        self._in_flight = False
        self._unschedule()
        if self._transport is not None:
            self._transport.abort()

    # Called by the event loop.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport
        self._parser = httptools.HttpResponseParser(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """End a body that has neither length nor chunks; any other unfinished response is a failure."""
        self._closed = True
        self._paused = False
        self._transport = self._parser = None  # both refer to this object: the TLS state would stay until a collection
        if not self._in_flight or self._complete:
            return
        if self._head is not None and not self._interim and self._ends_with_connection():
            self._complete = True
            self._wake()
        elif isinstance(exc, ssl.SSLError):
            self._fail(TlsFailure(tls_detail(exc)))
        else:
            self._fail(Unreachable("the connection closed before the answer was complete", connected=True))

    def data_received(self, data: bytes) -> None:
        """Count and parse the bytes, and wake the waiting task."""
        if not self._in_flight or self._complete:
            self.abort()  # bytes that were not requested
            return
        self._received_at = self._loop.time()
        self._wire += len(data)
        self._overhead += len(data)
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            if not self._complete:
                self._fail(Malformed("the answer is not HTTP/1.1"))
            self._surplus = True
            self._wake()  # the response may have become complete before the invalid bytes
            return
        self._check_caps()
        self._quiet = self._received_at + self._limits.between_bytes
        if self._wire == len(data):
            self._schedule()  # the first bytes may end a longer wait than that for the next ones
        if self._buffered > _HIGH_WATER and not self._complete:
            self._paused = True
            self._transport.pause_reading()
        self._wake()

    # Called by httptools.

    def on_message_begin(self) -> None:
        """Start a response. A final response follows an interim one; any response after the final one is surplus."""
        self._surplus = self._complete
        self._pairs = []

    def on_header(self, name: bytes, value: bytes) -> None:
        """Collect a header; trailers arrive after the head and are dropped."""
        if self._head is None:
            self._pairs.append((name.decode("latin-1").lower(), value.decode("latin-1")))

    def on_headers_complete(self) -> None:
        """Set the head, unless the response is an interim one."""
        if self._surplus:
            return
        status = self._parser.get_status_code()
        self._interim = status < 200
        if not self._interim:
            self._head, self.arrived = Head(status, tuple(self._pairs)), self._received_at
            self._complete = self._bodiless

    def on_body(self, body: bytes) -> None:
        self._overhead = 0
        if not self._bodiless and not self._surplus:
            self._has_body = True
            self._chunks.append((self._received_at, body))
            self._buffered += len(body)

    def on_message_complete(self) -> None:
        """Complete the response. Only now does the parser know whether the connection stays open."""
        if not self._interim and not self._surplus:
            self._complete = True
            self._keep_alive = bool(self._parser.should_keep_alive())

    def _check_caps(self) -> None:
        limits = self._limits
        if self._wire > limits.wire_bytes:
            self._fail(TooLarge(f"more than {limits.wire_bytes} bytes"))
        elif self._overhead > limits.head_bytes and not self._complete:
            self._fail(TooLarge(f"more than {limits.head_bytes} bytes of headers or framing"))

    def _ends_with_connection(self) -> bool:
        names = {name for name, _ in self._head.headers} if self._head else set()
        return not names & {"content-length", "transfer-encoding"}

    def _fail(self, failure: WireFailure) -> None:
        self._failure = self._failure or failure
        self.abort()
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def _wait(self) -> None:
        if self._failure is not None:
            raise self._failure
        if self._closed:
            raise Unreachable("the connection closed before the answer was complete", connected=True)
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None
        if self._failure is not None:
            raise self._failure

    def _resume(self) -> None:
        if self._paused:
            self._paused = False
            self._quiet = self._loop.time() + self._limits.between_bytes
            self._transport.resume_reading()

    def _schedule(self) -> None:
        """Make sure that a timer fires in time; one that fires too early sets itself again."""
        when = min(self._deadline, self._quiet)
        if self._timer is not None:
            if self._timer_at <= when:
                return
            self._timer.cancel()
        self._timer, self._timer_at = self._loop.call_at(when, self._tick), when

    def _unschedule(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _tick(self) -> None:
        self._timer = None
        if not self._in_flight:
            return
        now = self._loop.time()
        if self._paused:
            self._quiet = now + self._limits.between_bytes
        if now < min(self._deadline, self._quiet):
            self._schedule()
        elif now >= self._deadline and self._is_cut:
            self._fail(BudgetSpent(TIME_OVER))
        else:
            self._fail(TimedOut(self._describe_delay(is_total=now >= self._deadline)))

    def _describe_delay(self, *, is_total: bool) -> str:
        """What the peer had sent when a limit passed, and the limit. `is_total`: that of the whole answer passed."""
        limits = self._limits
        silence = limits.first_byte if self.silent else limits.between_bytes
        after = f"within {limits.total if is_total else silence:g} s"
        if self._head is None:
            return f"no answer {after}" if self.silent else f"the headers of the answer did not end {after}"
        came = f"the server answered with HTTP {self._head.status} and headers, but"
        if not self._has_body:
            return f"{came} no body came {after}"
        return f"{came} the body did not end {after}" if is_total else f"{came} the body did not continue {after}"


def tls_detail(error: ssl.SSLError) -> str:
    """A text for a TLS error that is equal on every run and on every version of Python."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"certificate: {error.verify_message}"
    if error.reason in _NO_TLS:
        return "the answer has no valid TLS records"
    return (error.reason or "handshake failed").lower().replace("_", " ")
