"""What was said on the wire during one probe, in order: the raw material of the kind `exchanges`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from crawler.wire.failures import WireFailure
from crawler.wire.rpc import Answer
from evidence.canonical import Json

# Body bytes that outlive their reply. Hundreds of probes run at once, and what a listing needs is in its own body.
RETAINED: Final = 1024 * 1024  # of one probe
RETAINED_EACH: Final = 64 * 1024  # of one exchange
_HEADER_CAP: Final = 2048
_KEPT: Final = frozenset(
    {"allow", "cache-control", "cf-mitigated", "content-encoding", "content-type", "date", "location"}
    | {"mcp-protocol-version", "mcp-session-id", "retry-after", "server", "via", "www-authenticate"}
    | {"x-accel-buffering", "x-powered-by"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request and what came back. `method` is the JSON-RPC method, or `GET` and `DELETE` of the transport.

    `began` and `seconds` are on the probe's own clock. `body` is as received after content decoding; for an event
    stream and for stdio it is everything read until the answer. `dropped` is how many bytes of its end are not kept.
    """

    transport: str
    method: str
    request: bytes
    began: float
    seconds: float
    status: int | None = None
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    failure: WireFailure | None = None
    dropped: int = 0

    def header(self, name: str) -> str:
        """The first value of a kept header, or the empty string."""
        return next((value for key, value in self.headers if key == name), "")


@dataclass(frozen=True, slots=True)
class Reply:
    """How one question ended: the exchange, and the JSON-RPC answer when there was one."""

    exchange: Exchange
    answer: Answer | None = None

    @property
    def failure(self) -> WireFailure | None:
        """Why there is no answer, when the wire and not the server decided so."""
        return self.exchange.failure

    @property
    def status(self) -> int | None:
        """HTTP status of the answer."""
        return self.exchange.status

    @property
    def result(self) -> Answer | None:
        """The answer when it is a result."""
        return self.answer if self.answer and not self.answer.is_error else None


@dataclass(slots=True)
class Transcript:
    """The exchanges of one probe, with a bound on the bytes kept."""

    exchanges: list[Exchange] = field(default_factory=list)
    retained: int = 0

    def add(self, exchange: Exchange) -> None:
        """Append an exchange, with as much of the beginning of its body as the bounds leave room for."""
        room = min(RETAINED_EACH, RETAINED - self.retained)
        if len(exchange.body) > room:
            exchange = replace(exchange, body=exchange.body[:room], dropped=len(exchange.body) - room)
        self.retained += len(exchange.body)
        self.exchanges.append(exchange)

    def summary(self) -> list[Mapping[str, Json]]:
        """One small object per exchange for a record's observation."""
        return [_summary(exchange) for exchange in self.exchanges]


def kept_headers(headers: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """The headers that matter to a rule or to a person, each within a cap."""
    return tuple((name, value[:_HEADER_CAP]) for name, value in headers if name in _KEPT)


def _summary(exchange: Exchange) -> Mapping[str, Json]:
    summary: dict[str, Json] = {
        "transport": exchange.transport,
        "method": exchange.method,
        "ms": round(exchange.seconds * 1000, 1),
        "bytes": len(exchange.body) + exchange.dropped,
    }
    if exchange.status is not None:
        summary["status"] = exchange.status
    if exchange.failure is not None:
        summary["failure"] = f"{exchange.failure.reason}: {exchange.failure.detail}"
    return summary
