"""Rule `stdout-carries-text`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.kinds.exchanges import Received
from scoring.conversation import Conversation
from scoring.conversing import conversation, legacy, stdio
from scoring.outcome import Severity, Undecided
from scoring.path import clip
from scoring.rule import Answer, must, rule


@rule(
    "stdout-carries-text",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="Standard output carries lines that are no messages",
    since="2026.2",
    version=1,
    checks=must("IO-01", "ABCDE", "basic/transports/stdio"),
    good=[
        conversation(stdio("initialize", result={})),
        conversation(stdio("ping", received=[{"text": ""}])),
        conversation(stdio("ping", revision="B", received=[{"message": [{"method": "notifications/message"}]}])),
    ],
    bad=[
        conversation(stdio("initialize", received=[{"text": "Notes server 0.0 started"}])),
        conversation(stdio("initialize", received=[{"message": {"level": "info", "msg": "started"}}])),
        conversation(stdio("initialize", received=[{"message": 7}])),
        conversation(stdio("ping", received=[{"message": [{"method": "notifications/message"}]}])),
    ],
    unjudged=[
        conversation(legacy("initialize", result={})),
        conversation(stdio("initialize", failure=("timeout", "no answer"))),
    ],
)
def stdout_carries_text(talk: Conversation) -> Iterator[Answer]:
    """Over stdio every line of standard output is a message. A banner or a log line breaks the client's parser.

    Write logs to standard error. Look for `print`, `console.log` and loggers that write to standard output by default,
    also in libraries.
    """
    told = [one for one in talk.over_stdio if not one.unclear]
    if not told:
        raise Undecided("nothing was answered")
    for exchange in told:
        batches = exchange.connection.revision == "B"  # the one revision with arrays of messages
        told_by = (one for one in exchange.received if not (batches and isinstance(one.message, list)))
        stray = [words for one in told_by if (words := _stray(one))]
        if stray:
            yield exchange, f"a line that is no message: {clip(stray[0], 60)}"


def _stray(received: Received) -> str:
    """A line that is neither blank nor a message; empty otherwise."""
    if received.message is None:
        return received.text.strip()
    known = received.is_answer or received.is_request or received.is_notification
    return "" if known else "JSON that is no JSON-RPC"
