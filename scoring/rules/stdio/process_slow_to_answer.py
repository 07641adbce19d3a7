"""Rule `process-slow-to-answer`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.model import Reason
from scoring.conversation import Conversation
from scoring.conversing import conversation, legacy, stdio
from scoring.outcome import Severity
from scoring.rule import Answer, info, rule


@rule(
    "process-slow-to-answer",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.INFO,
    title="The process does not answer its first question in time",
    since="2026.2",
    version=1,
    checks=info("IO-06", "ABCDE"),
    good=[conversation(stdio("initialize", result={}))],
    bad=[conversation(stdio("initialize", failure=("timeout", "no answer within 30 s")))],
    unjudged=[conversation(legacy("initialize", result={}))],
)
def process_slow_to_answer(talk: Conversation) -> Iterator[Answer]:
    """Clients wait half a minute at most for the first answer of a process that they started.

    Load models, caches and connections after the handshake, not before it. Installing does not count. No revision sets
    a limit, so this is a remark; how long it took each night is in the record's observation, and only that no answer
    came at all is in the evidence.
    """
    for connection in sorted({one.connection.index for one in talk.over_stdio if one.connection.opened}):
        first = next(one for one in talk.over_stdio if one.connection.index == connection)
        if first.failure == Reason.TIMEOUT:
            yield first, "no answer to the first question in time"
