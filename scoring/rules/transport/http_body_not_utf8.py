"""Rule `http-body-not-utf8`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.kinds.exchanges import Exchange
from evidence.model import Reason
from scoring.conversation import Conversation
from scoring.conversing import conversation, legacy, modern, stdio
from scoring.outcome import Inapplicable, Severity
from scoring.rule import Answer, must, rule


@rule(
    "http-body-not-utf8",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A message over HTTP is not UTF-8",
    since="2026.2",
    version=1,
    checks=must("HTTP-09", "ABCDE", "basic/transports"),
    good=[
        conversation(legacy("ping", result={})),
        conversation(
            legacy("initialize", result={}),
            legacy("ping", form="other", utf8=False, headers={"content-type": "text/html"}),
        ),
    ],
    bad=[
        conversation(legacy("initialize", result={}, utf8=False)),
        conversation(
            modern(
                "discover",
                utf8=False,
                form="other",
                headers={"content-type": "application/json"},
                failure=("not_mcp", "a body that is not JSON"),
            )
        ),
    ],
    unjudged=[
        conversation(stdio("ping", result={}, utf8=False)),
        conversation(legacy("ping", result={}, form="stream", utf8=False)),
        conversation(legacy("ping", status=503, utf8=False)),
        conversation(legacy("ping", utf8=False, failure=("timeout", "no answer within 30 s"))),
    ],
)
def http_body_not_utf8(talk: Conversation) -> Iterator[Answer]:
    """Messages are JSON in UTF-8, whatever the content type says of a charset.

    Bytes of another encoding make the message unreadable for most clients, and silently change letters for the rest.
    The usual cause is text that was read from a file or a database in its own encoding and passed on. Decode it where
    it is read.
    """
    # A stream is read until its answer, which may cut what follows in the middle of a character.
    bodies = [one for one in talk.over_http if one.content_type == "application/json" and _whole(one)]
    if not bodies:
        raise Inapplicable("no message was received")
    for exchange in bodies:
        if not exchange.utf8:
            yield exchange, "the body is not UTF-8"


def _whole(exchange: Exchange) -> bool:
    """True when the body was read to its end, even if it could not be understood then."""
    readable = not exchange.failure or exchange.failure == Reason.NOT_MCP
    return readable and exchange.status == 200 and not (exchange.answer and exchange.answer.missing)
