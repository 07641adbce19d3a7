"""Rule `removed-method-served`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.conversation import Conversation
from scoring.conversing import conversation, modern
from scoring.outcome import Severity
from scoring.replies import METHOD_NOT_FOUND, NOT_FOUND, unlike
from scoring.rule import Answer, must, rule


@rule(
    "removed-method-served",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A method that the revision removed is not refused with 404 and -32601",
    since="2026.2",
    version=1,
    checks=must("METH-02", "E", "basic/transports/streamable-http#protocol-version-header"),
    good=[
        conversation(
            modern("removed-ping", status=404, error={"code": -32601}),
            modern("removed-logging", status=404, error={"code": -32601}),
            modern("removed-subscribe", status=404, error={"code": -32601}),
        ),
    ],
    bad=[
        conversation(modern("removed-ping", result={})),
        conversation(modern("removed-logging", status=200, error={"code": -32601})),
        conversation(modern("removed-subscribe", status=404, form="other")),
    ],
    unjudged=[
        conversation(modern("discover", result={}), depth="core"),
        conversation(modern("removed-ping", status=500)),
    ],
)
def removed_method_served(talk: Conversation) -> Iterator[Answer]:
    """From 2026-07-28 on `ping`, `logging/setLevel` and `resources/subscribe` are unknown methods.

    They are answered with HTTP 404 and error -32601. A server of both eras keeps them for the older revisions only:
    `logging/setLevel` and `resources/subscribe` change the state of a connection, and there is none any more.
    """
    steps = ("removed-ping", "removed-logging", "removed-subscribe")
    yield from unlike(talk.clear(*steps), status=NOT_FOUND, code=METHOD_NOT_FOUND)
