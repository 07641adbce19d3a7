"""Rule `stdout-carries-text`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.kinds.exchanges import Received
from scoring.engine.rule import Answer, must, rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.conversation import build_conversation, legacy_exchange, stdio_exchange
from scoring.results.outcome import Severity, Undecided
from scoring.scopes.conversation import Conversation
from scoring.text.evidence_path import clip_text


@rule(
    "stdout-carries-text",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="Standard output carries lines that are not messages",
    remedy="Write only JSON-RPC messages to stdout, one object per line (an array only under revision 2025-03-26). "
    "Write logs and banners to stderr.",
    since="2026.2",
    version=1,
    to_the_end=True,
    checks=must("IO-01", "ABCDE", "basic/transports/stdio"),
    fix=write_snippet(
        Language.PYTHON,
        "Source code",
        before='print("Server is ready")',
        after="""
        import sys

        print("Server is ready", file=sys.stderr)
        """,
    ),
    good=[
        build_conversation(stdio_exchange("initialize", result={})),
        build_conversation(stdio_exchange("ping", received=[{"text": ""}])),
        build_conversation(
            stdio_exchange("ping", revision="B", received=[{"message": [{"method": "notifications/message"}]}])
        ),
    ],
    bad=[
        build_conversation(stdio_exchange("initialize", received=[{"text": "Notes server 0.0 started"}])),
        build_conversation(stdio_exchange("initialize", received=[{"message": {"level": "info", "msg": "started"}}])),
        build_conversation(stdio_exchange("initialize", received=[{"message": 7}])),
        build_conversation(stdio_exchange("ping", received=[{"message": [{"method": "notifications/message"}]}])),
    ],
    unjudged=[
        build_conversation(legacy_exchange("initialize", result={})),
        build_conversation(stdio_exchange("initialize", failure=("timeout", "no answer"))),
    ],
)
def stdout_carries_text(conversation: Conversation) -> Iterator[Answer]:
    """Over stdio every line of standard output is a message; another line breaks the parser of the client.

    Write banners and logs to standard error. Search for `print`, `console.log` and loggers that write to standard
    output by default, also in libraries.
    """
    conclusive = [one for one in conversation.over_stdio if not one.unclear]
    if not conclusive:
        raise Undecided("nothing was answered")
    for exchange in conclusive:
        batches = exchange.connection.revision == "B"  # the one revision with arrays of messages
        told_by = (one for one in exchange.received if not (batches and isinstance(one.message, list)))
        stray = [words for one in told_by if (words := _stray(one))]
        if stray:
            yield exchange, f"a line that is not a message: {clip_text(stray[0], 60)}"


def _stray(received: Received) -> str:
    """A line that is neither blank nor a message; empty otherwise."""
    if received.message is None:
        return received.text.strip()
    known = received.is_answer or received.is_request or received.is_notification
    return "" if known else "JSON that is not JSON-RPC"
