"""Rule `http-body-not-utf8`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.kinds.exchanges import Exchange
from evidence.model import Reason
from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange, stdio_exchange
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.conversation import Conversation


@rule(
    "http-body-not-utf8",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A message over HTTP is not UTF-8",
    remedy="Encode the JSON body of each response in UTF-8. "
    "Decode text from files and databases from its own encoding when the server reads it.",
    since="2026.2",
    version=1,
    to_the_end=True,
    checks=must("HTTP-09", "ABCDE", "basic/transports"),
    good=[
        build_conversation(legacy_exchange("ping", result={})),
        build_conversation(
            legacy_exchange("initialize", result={}),
            legacy_exchange("ping", form="other", utf8=False, headers={"content-type": "text/html"}),
        ),
    ],
    bad=[
        build_conversation(legacy_exchange("initialize", result={}, utf8=False)),
        build_conversation(
            modern_exchange(
                "discover",
                utf8=False,
                form="other",
                headers={"content-type": "application/json"},
                failure=("not_mcp", "a body that is not JSON"),
            )
        ),
    ],
    unjudged=[
        build_conversation(stdio_exchange("ping", result={}, utf8=False)),
        build_conversation(legacy_exchange("ping", result={}, form="stream", utf8=False)),
        build_conversation(legacy_exchange("ping", status=503, utf8=False)),
        build_conversation(legacy_exchange("ping", utf8=False, failure=("timeout", "no answer within 30 s"))),
    ],
)
def http_body_not_utf8(conversation: Conversation) -> Iterator[Answer]:
    """Messages are JSON in UTF-8, whatever charset the content type names.

    Most clients cannot read a message in another encoding, and the others silently change letters. The usual cause is
    text that was read from a file or a database in its own encoding. Decode it where it is read.
    """
    # A stream is read until its answer, which may cut what follows in the middle of a character.
    bodies = [one for one in conversation.over_http if one.content_type == "application/json" and _whole(one)]
    if not bodies:
        raise Inapplicable("no message was received")
    for exchange in bodies:
        if not exchange.utf8:
            yield exchange, "the body is not UTF-8"


def _whole(exchange: Exchange) -> bool:
    """True when the body was read to its end, even if it could not be understood then."""
    readable = not exchange.failure or exchange.failure == Reason.NOT_MCP
    return readable and exchange.status == 200 and not (exchange.answer and exchange.answer.missing)
