"""Replies of a server: stable descriptions, unexpected replies, and replies that were lost with a session."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from evidence.kinds.exchanges import Exchange, Exchanges
from evidence.kinds.listing import UNDEFINED
from scoring.results.outcome import Undecided

HEADER_MISMATCH: Final = -32020
UNSUPPORTED_VERSION: Final = -32022
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602

BAD_REQUEST: Final = 400
NOT_FOUND: Final = 404


def describe_reply(exchange: Exchange) -> str:
    """A reply in words, such as `HTTP 200 with error -32601`; without the status over stdio."""
    if exchange.error is not None:
        body = f"error {exchange.code}" if exchange.code is not None else "an error without a code"
    else:
        body = "a result" if exchange.succeeded else "no JSON-RPC answer"
    return body if exchange.status is None else f"HTTP {exchange.status} with {body}"


def list_unexpected_replies(exchanges: Iterable[Exchange], *, status: int, code: int) -> Iterator[tuple[Exchange, str]]:
    """The exchanges that were not refused with this HTTP status and error code; stdio has no status."""
    for exchange in exchanges:
        if exchange.code != code or exchange.status not in (status, None):
            expected = f"error {code}" if exchange.status is None else f"HTTP {status} with error {code}"
            yield exchange, f"{describe_reply(exchange)}, {expected} expected"


def has_request_id(exchange: Exchange) -> bool:
    """Whether the response has the id of the request, with the same JSON type."""
    sent = exchange.sent.get("id", UNDEFINED) if isinstance(exchange.sent, Mapping) else UNDEFINED
    got = exchange.answer.members.get("id", UNDEFINED) if exchange.answer else UNDEFINED
    number = isinstance(sent, int) and isinstance(got, int | float) and not isinstance(got, bool)
    return sent == got and (number or type(sent) is type(got))


def list_read_by_server(exchanges: Iterable[Exchange], recorded: Exchanges) -> tuple[Exchange, ...]:
    """Those that the server answered in JSON-RPC, having read them; Undecided when there is none.

    A session that was lost looks like an error of the question: HTTP 400 or 404, and nothing served after it.
    """
    found = tuple(exchanges)
    kept = tuple(one for one in found if one.answer and not is_session_lost(one, recorded))
    if not kept:
        raise Undecided("the session was lost" if any(one.answer for one in found) else "no JSON-RPC answer")
    return kept


def is_session_lost(exchange: Exchange, recorded: Exchanges) -> bool:
    """Whether this refusal concerns only the session: HTTP 400 or 404, and no later success on the connection.

    Servers with several instances, and servers that are suspended, lose their sessions.
    """
    if exchange.connection.session is None or exchange.status not in (BAD_REQUEST, NOT_FOUND):
        return False
    later = (
        one for one in recorded.exchanges[exchange.index + 1 :] if one.connection.index == exchange.connection.index
    )
    return not any(one.succeeded for one in later)
