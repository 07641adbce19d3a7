"""Rule `process-outlives-stdin`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, rule, should
from scoring.example_builders.conversation import build_conversation, stdio_exchange
from scoring.results.outcome import Severity, Undecided
from scoring.scopes.conversation import Conversation


@rule(
    "process-outlives-stdin",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.WARNING,
    title="The process does not exit after its input was closed",
    remedy="Exit the process within 5 seconds after the end of stdin. "
    "Stop timers and close open connections that keep the process alive.",
    since="2026.2",
    version=1,
    checks=should("IO-03", "E", "basic/transports/stdio#shutdown"),
    good=[build_conversation(stdio_exchange("close", revision="E", ended=True))],
    bad=[build_conversation(stdio_exchange("close", revision="E", ended=False))],
    unjudged=[
        build_conversation(stdio_exchange("close", revision="E")),
        build_conversation(stdio_exchange("close", ended=False)),
    ],
)
def process_outlives_stdin(conversation: Conversation) -> Iterator[Answer]:
    """A client ends a server by closing its input, so the process must exit at the end of input.

    A process that continues has to be killed, or runs on unnoticed. Timers and open connections must not keep the
    process alive.
    """
    conclusive = [one for one in conversation.exchanges_of("close") if one.ended is not None]
    if not conclusive:
        raise Undecided("the end was not watched")
    for exchange in conclusive:
        if not exchange.ended:
            yield exchange, "still running 5 seconds after its input was closed"
