"""Rule `server-modern-era-unanswered`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.kinds.exchanges import MODERN
from scoring.conversation import NOT_ASKED, Conversation
from scoring.conversing import conversation, legacy, modern
from scoring.outcome import Severity, Undecided
from scoring.rule import rule


@rule(
    "server-modern-era-unanswered",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.SUGGESTION,
    title="Server does not speak the current revision of the protocol",
    since="2026.2",
    version=1,
    spec="https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning",
    good=[conversation(modern("discover", result={}))],
    bad=[conversation(modern("discover", status=404, opened=False), legacy("initialize", result={}))],
    unjudged=[
        conversation(legacy("initialize", result={})),
        conversation(
            modern("discover", failure=("timeout", "no answer"), opened=False), legacy("initialize", result={})
        ),
    ],
)
def server_modern_era_unanswered(talk: Conversation) -> Iterator[str]:
    """Since 2026-07-28 a client may ask every server at once, without a handshake and without a session.

    A server that only answers `initialize` still works with today's clients, and those that dropped the handshake
    cannot reach it. Current SDKs serve both eras from the same code.
    """
    if MODERN in talk.talk.eras:
        return
    asked = list(talk.talk.of("discover"))
    if not asked:
        raise Undecided(NOT_ASKED)
    if unclear := asked[0].unclear:
        raise Undecided(unclear)
    yield "server/discover of 2026-07-28 is not answered"
