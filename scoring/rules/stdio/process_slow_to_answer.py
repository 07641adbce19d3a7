"""Rule `process-slow-to-answer`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.model import Reason
from scoring.engine.rule import Answer, info, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, stdio_exchange
from scoring.results.outcome import Severity
from scoring.scopes.conversation import Conversation


@rule(
    "process-slow-to-answer",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.INFO,
    title="The process does not answer its first request in time",
    remedy="Answer the first request within 30 seconds after the start of the process. "
    "Load models, caches and connections after the first answer.",
    since="2026.2",
    version=1,
    checks=info("IO-06", "ABCDE"),
    good=[build_conversation(stdio_exchange("initialize", result={}))],
    bad=[build_conversation(stdio_exchange("initialize", failure=("timeout", "no answer within 30 s")))],
    unjudged=[build_conversation(legacy_exchange("initialize", result={}))],
)
def process_slow_to_answer(conversation: Conversation) -> Iterator[Answer]:
    """Clients wait half a minute at most for the first answer of a process that they started.

    Load models, caches and connections after the handshake, not before it. The installation does not count. No revision
    sets a limit, so this check is for information only. The observation of the record has the time that the answer
    took; the evidence has only that no answer was received.
    """
    for connection in sorted({one.connection.index for one in conversation.over_stdio if one.connection.opened}):
        first = next(one for one in conversation.over_stdio if one.connection.index == connection)
        if first.failure == Reason.TIMEOUT:
            yield first, "no answer to the first request in time"
