"""Rule `server-modern-era-unanswered`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.kinds.exchanges import MODERN
from scoring.engine.rule import rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange
from scoring.results.outcome import Severity, Undecided
from scoring.scopes.conversation import NOT_ASKED, Conversation


@rule(
    "server-modern-era-unanswered",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.SUGGESTION,
    title="Server does not support the current revision of the protocol",
    remedy="Answer `server/discover` of revision 2026-07-28 with a result, without a handshake and without a "
    "session. Use an SDK release that supports this revision.",
    since="2026.2",
    version=1,
    spec="https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning",
    good=[build_conversation(modern_exchange("discover", result={}))],
    bad=[
        build_conversation(
            modern_exchange("discover", status=404, opened=False), legacy_exchange("initialize", result={})
        )
    ],
    unjudged=[
        build_conversation(legacy_exchange("initialize", result={})),
        build_conversation(
            modern_exchange("discover", failure=("timeout", "no answer"), opened=False),
            legacy_exchange("initialize", result={}),
        ),
    ],
)
def server_modern_era_unanswered(conversation: Conversation) -> Iterator[str]:
    """Since 2026-07-28 a client may send requests without a handshake and without a session.

    A server that answers only `initialize` still works with current clients, but clients that dropped the handshake
    cannot use it. Current SDKs support both from the same code.
    """
    if MODERN in conversation.recorded.eras:
        return
    attempts = list(conversation.recorded.of("discover"))
    if not attempts:
        raise Undecided(NOT_ASKED)
    if unclear := attempts[0].unclear:
        raise Undecided(unclear)
    yield "server/discover of 2026-07-28 is not answered"
