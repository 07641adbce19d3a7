"""The error codes that a modern server itself emits under the modern revision."""

from __future__ import annotations

from typing import Final

from evidence.kinds.exchanges import Exchange
from scoring.results.outcome import Inapplicable
from scoring.scopes.conversation import Conversation

_UNVERSIONED: Final = frozenset(
    {
        "discover-meta-missing",
        "discover-version-missing",
        "discover-version-mismatch",
        "discover-version-unknown",
        "malformed",
    }
)
"""Steps that a dual-era server may read as requests of an older revision and answer with its codes."""


def list_emitted_errors(conversation: Conversation) -> tuple[tuple[Exchange, int], ...]:
    """Every error with a code; Inapplicable when there is none.

    Left out is what an intermediary may have answered: 429, 5xx, and errors that do not say that they are JSON-RPC.
    """
    found = tuple(
        (exchange, exchange.code)
        for exchange in conversation.exchanges
        if exchange.code is not None and exchange.answer and exchange.answer.members.get("jsonrpc") == "2.0"
        if not exchange.unclear and not (conversation.is_dual_era and exchange.step in _UNVERSIONED)
    )
    if not found:
        raise Inapplicable("no errors")
    return found
