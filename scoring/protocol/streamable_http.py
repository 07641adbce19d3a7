"""Selects exchanges over one HTTP transport, exchanges that the status decides, and attempts to open connections."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from evidence.kinds.exchanges import Exchange
from scoring.results.outcome import Inapplicable, Undecided
from scoring.scopes.conversation import CORE, LEFT_OUT, NOT_ASKED, Conversation

STREAMABLE: Final = "streamable-http"
SSE: Final = "sse"

_GATES: Final = frozenset({401, 402, 407})


def only_streamable_http(conversation: Conversation) -> Conversation:
    """The conversation over streamable HTTP only; raise Inapplicable without exchanges, Undecided for left-out ones."""
    narrowed = conversation.over_transport(STREAMABLE)
    if not narrowed.exchanges:
        if narrowed.leaves_out_openings:
            raise Undecided(LEFT_OUT)
        raise Inapplicable("not over streamable HTTP")
    return narrowed


def only_opened_http(conversation: Conversation) -> Conversation:
    """The conversation over HTTP+SSE where the server opened there, else over streamable HTTP; may raise Inapplicable.

    HTTP+SSE is defined by revision 2024-11-05 and judged whatever revision was agreed, streamable HTTP from 2025-03-26.
    """
    over_sse = conversation.over_transport(SSE)
    if over_sse.exchanges:
        return over_sse
    return only_streamable_http(conversation.under_revisions(conversation.revisions.replace("A", "")))


def only_repeatable_openings(conversation: Conversation) -> Conversation:
    """Only what was said where an opening can be repeated: over stdio, in a process each, or over streamable HTTP.

    Inapplicable when nothing was: over HTTP+SSE every opening needs a stream of its own.
    """
    over_stdio = conversation.over_transport("stdio")
    return over_stdio if over_stdio.exchanges else only_streamable_http(conversation)


def list_decided_exchanges(conversation: Conversation, *steps: str) -> tuple[Exchange, ...]:
    """Exchanges whose HTTP status is the answer, including redirects and 403; Undecided without any."""
    found = conversation.exchanges_of(*steps)
    kept = tuple(one for one in found if _is_settled(one))
    if not kept:
        raise Undecided(found[0].unclear or f"HTTP {found[0].status}")
    return kept


def list_conclusive_exchanges(
    conversation: Conversation, exchanges: Iterable[Exchange], *steps: str
) -> tuple[Exchange, ...]:
    """Like `Conversation.conclusive`, for exchanges of these steps on connections that may not have opened."""
    found = tuple(exchanges)
    kept = tuple(one for one in found if not one.unclear and not one.is_refusal)
    if not found:
        if conversation.recorded.depth == CORE:
            raise Undecided(NOT_ASKED)
        raise Undecided(LEFT_OUT) if steps and conversation.leaves_out(*steps) else Inapplicable("not asked")
    if not kept:
        raise Undecided(found[0].unclear or f"HTTP {found[0].status}")
    return kept


def is_redirect(exchange: Exchange) -> bool:
    return not exchange.failure and exchange.status is not None and 300 <= exchange.status < 400


def exclude_lost_sessions(exchanges: Iterable[Exchange]) -> tuple[Exchange, ...]:
    """Without those that were answered 404 within a session; Undecided when none is left.

    The server may have forgotten the session, which it may do at any time.
    """
    kept = tuple(one for one in exchanges if one.status != 404 or one.connection.session is None)
    if not kept:
        raise Undecided("the session may be lost")
    return kept


def _is_settled(exchange: Exchange) -> bool:
    """Whether the status comes from the server: no failure, no temporary state, no gate in front of it."""
    if exchange.failure or exchange.status is None or exchange.status in _GATES:
        return False
    return not exchange.unclear or is_redirect(exchange)
