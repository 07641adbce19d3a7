"""All requests and responses of one probe, in order: the source of the evidence kind `exchanges`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from crawler.http.failures import WireFailure
from crawler.mcp.jsonrpc import RpcAnswer, RpcMessage
from evidence.canonical import Json, sha256

# Bytes of messages that are kept after the reply was processed. Hundreds of probes run at once.
MAX_PROBE_BYTES: Final = 1024 * 1024  # per probe
MAX_EXCHANGE_BYTES: Final = 64 * 1024  # per exchange
MAX_PIECES: Final = 64  # per exchange
TOO_MANY_REQUESTS: Final = 429
"""HTTP status: the server asks for fewer requests."""

_SMALL: Final = 4 * 1024
_HEADER_CAP: Final = 2048
_KEPT: Final = frozenset(
    {"allow", "cache-control", "cf-mitigated", "content-encoding", "content-type", "date", "location"}
    | {"mcp-protocol-version", "mcp-session-id", "retry-after", "server", "via", "www-authenticate"}
    | {"x-accel-buffering", "x-powered-by"}
)


class AnswerForm(StrEnum):
    """The format of a response."""

    JSON = "json"
    STREAM = "stream"
    LINES = "lines"
    OTHER = "other"
    NONE = "none"


class Piece(Struct, frozen=True, kw_only=True):
    """One received message, as its result and the bytes around it, or a text that is not a message.

    `result` is None for a message without one, and for one too large to keep: then `size` and `digest` (SHA-256)
    describe it. `reveals`: what the text revealed before it was masked. `event` and `has_id` belong to the server-sent
    event. `is_answer`: the message is a response.
    """

    before: bytes = b""
    result: bytes | None = None
    after: bytes = b""
    size: int = 0
    digest: str = ""
    text: str | None = None
    reveals: str = ""
    event: str = ""
    has_id: bool = False
    is_answer: bool = False

    @property
    def kept(self) -> int:
        """Bytes in memory."""
        return len(self.before) + len(self.after) + len(self.result or b"") + len(self.text or "")


def message_piece(message: RpcMessage, *, event: str = "", has_id: bool = False) -> Piece:
    result = message.answer.span if message.answer and not message.answer.is_error else None
    size = len(result) if result is not None else 0
    return Piece(
        before=message.before,
        result=result,
        after=message.after,
        size=size,
        event=event,
        has_id=has_id,
        is_answer=message.answer is not None,
    )


def append_pieces(pieces: list[Piece], more: Iterable[Piece]) -> None:
    """Append pieces up to MAX_PIECES; the first response replaces the last piece, since it must never be dropped."""
    for piece in more:
        if len(pieces) < MAX_PIECES:
            pieces.append(piece)
        elif piece.is_answer and not any(one.is_answer for one in pieces):
            pieces[-1] = piece


class Exchange(Struct, frozen=True, kw_only=True):
    """One request and its response. `method` is the JSON-RPC method, or `GET` and `DELETE` of the transport.

    `began` and `seconds` are measured on the probe's clock. `seconds` end when the first byte of the answer arrived;
    with a failure, when it was noticed. `body` is the content-decoded body; for an event stream and stdio, everything
    read until the response. A transcript drops a large body and keeps the pieces `received` and the `size`. `ended`:
    whether the stream or process ended in time, None if that was not observed.
    """

    transport: str
    method: str
    request: bytes
    began: float
    seconds: float
    verb: str = ""
    sent: tuple[tuple[str, str], ...] = ()
    status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    dropped: int = 0
    form: AnswerForm = AnswerForm.NONE
    utf8: bool = True
    batch: bool = False
    ended: bool | None = None
    received: tuple[Piece, ...] = ()
    failure: WireFailure | None = None

    @property
    def size(self) -> int:
        """Bytes of the body, including a dropped one."""
        return len(self.body) + self.dropped

    def header(self, name: str) -> str:
        """The first value of a recorded header, or the empty string."""
        for key, value in self.headers:  # a generator would cost several times as much
            if key == name:
                return value
        return ""


class Reply(Struct, frozen=True):
    """The outcome of one request: the exchange, and the JSON-RPC response if there was one."""

    exchange: Exchange
    answer: RpcAnswer | None = None

    @property
    def failure(self) -> WireFailure | None:
        """The network failure that prevented a response."""
        return self.exchange.failure

    @property
    def status(self) -> int | None:
        return self.exchange.status

    @property
    def result(self) -> RpcAnswer | None:
        """The response if it is a result and not an error."""
        return self.answer if self.answer and not self.answer.is_error else None


class SessionLink(Struct):
    """One connection and its state: an HTTP session or a stdio process."""

    transport: str
    era: str
    offered: str | None = None
    opened: bool = False
    negotiated: str | None = None
    session: str | None = None


class NamedExchange(Struct, frozen=True):
    """An exchange, and the step of the probe to which it belongs."""

    step: str
    page: int
    link: int
    exchange: Exchange


class Transcript(Struct):
    """The exchanges of one probe, with a limit on the bytes kept. `rows` are those that belong to a named step."""

    exchanges: list[Exchange] = field(default_factory=list)
    links: list[SessionLink] = field(default_factory=list)
    rows: list[NamedExchange] = field(default_factory=list)
    retained: int = 0
    on_exchange: Callable[[], None] | None = None

    @property
    def is_rate_limited(self) -> bool:
        """True if a named step or the last exchange was answered with 429."""
        exchanges = (*(row.exchange for row in self.rows), *self.exchanges[-1:])
        return any(exchange.status == TOO_MANY_REQUESTS for exchange in exchanges)

    def add(self, exchange: Exchange) -> None:
        """Append an exchange, without a large body and with the pieces that fit into the remaining room."""
        if exchange.failure is not None:
            exchange.failure.without_traceback()
        room = min(MAX_EXCHANGE_BYTES, MAX_PROBE_BYTES - self.retained)
        pieces = exchange.received[:MAX_PIECES]
        needed = sum(piece.kept for piece in pieces)
        if needed > room:
            pieces = tuple(_fit_all(pieces, room))
            needed = sum(piece.kept for piece in pieces)
        self.retained += needed
        if pieces is not exchange.received or len(exchange.body) > _SMALL:  # replacing costs more than a small body
            exchange = replace(exchange, body=b"", dropped=exchange.size, received=pieces)
        self.exchanges.append(exchange)
        if self.on_exchange is not None:
            self.on_exchange()

    def connect(self, link: SessionLink) -> int:
        """Add a connection and return its number."""
        self.links.append(link)
        return len(self.links) - 1

    def name(self, since: int, step: str, page: int, link: int, *, shared: bool = False) -> None:
        """Assign the exchanges from `since` on to a step. Followed redirects get rows of their own.

        `shared`: the results are stored elsewhere anyway and do not count here. A repeated step on the same connection
        replaces the earlier row.
        """
        *hops, last = self.exchanges[since:]
        for hop in hops:
            if hop.status is not None and 300 <= hop.status < 400:
                self.rows.append(NamedExchange(REDIRECTED, 0, link, hop))
        row = NamedExchange(step, page, link, last)
        if shared:
            self.retained -= sum(len(piece.result or b"") for piece in last.received)
        for position, known in enumerate(self.rows):
            if known.step == step and known.page == page and known.link == link:
                self.rows[position] = row
                return
        self.rows.append(row)

    def mark(self) -> tuple[int, int, int]:
        """The place up to which `rewind` keeps exchanges, connections and rows."""
        return len(self.exchanges), len(self.links), len(self.rows)

    def branch(self) -> Transcript:
        """An empty transcript with the same connections, for what is asked at the same time as something else."""
        return Transcript(links=list(self.links), retained=self.retained, on_exchange=self.on_exchange)

    def insert(self, mark: tuple[int, int, int], branch: Transcript) -> None:
        """Add what a branch has before everything that was added since the mark."""
        exchanges, _, rows = mark
        self.exchanges[exchanges:exchanges] = branch.exchanges
        self.rows[rows:rows] = branch.rows
        self.retained += sum(piece.kept for one in branch.exchanges for piece in one.received)

    def rewind(self, mark: tuple[int, int, int]) -> None:
        """Drop everything that was added since the mark."""
        exchanges, links, rows = mark
        self.retained -= sum(piece.kept for one in self.exchanges[exchanges:] for piece in one.received)
        del self.exchanges[exchanges:], self.links[links:], self.rows[rows:]

    def forget(self, since: int) -> None:
        """Drop the bodies and pieces of the exchanges from `since` on, to make room for evidence."""
        for at, exchange in enumerate(self.exchanges[since:], since):
            self.retained -= sum(piece.kept for piece in exchange.received)
            self.exchanges[at] = replace(exchange, body=b"", dropped=exchange.size, received=())

    def summary(self) -> list[Mapping[str, Json]]:
        """One small object per exchange for a record's observation."""
        return [_summary(exchange) for exchange in self.exchanges]


REDIRECTED: Final = "redirected"
"""Step of an exchange whose redirect was followed."""


def select_kept_headers(headers: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """The response headers that are recorded, each cut to a maximum length."""
    return tuple([(name, value[:_HEADER_CAP]) for name, value in headers if name in _KEPT])


def _fit_all(pieces: Iterable[Piece], room: int) -> Iterator[Piece]:
    for piece in pieces:
        fitting = _fit(piece, room)
        room -= fitting.kept
        yield fitting


def _fit(piece: Piece, room: int) -> Piece:
    """The piece, without its result if it does not fit, and without any bytes if the rest does not fit."""
    if piece.kept <= room:
        return piece
    if piece.result is not None:
        piece = replace(piece, result=None, digest=sha256(piece.result))
    if piece.kept <= room:
        return piece
    return Piece(size=piece.kept, event=piece.event, has_id=piece.has_id, is_answer=piece.is_answer)


def _summary(exchange: Exchange) -> Mapping[str, Json]:
    summary: dict[str, Json] = {
        "transport": exchange.transport,
        "method": exchange.method,
        "ms": round(exchange.seconds * 1000, 1),
        "bytes": exchange.size,
    }
    if exchange.status is not None:
        summary["status"] = exchange.status
    if exchange.failure is not None:
        summary["failure"] = f"{exchange.failure.reason}: {exchange.failure.detail}"
    return summary
