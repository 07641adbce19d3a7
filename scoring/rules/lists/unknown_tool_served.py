"""Rule `unknown-tool-served`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.conversation import Conversation
from scoring.conversing import conversation, legacy
from scoring.outcome import Severity, Tolerated
from scoring.replies import INVALID_PARAMS, read_by_server, reply
from scoring.rule import Answer, info, rule


@rule(
    "unknown-tool-served",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.WARNING,
    title="A call of a tool that does not exist succeeds",
    since="2026.2",
    version=1,
    checks=info("TOOL-13", "ABCDE", "server/tools#error-handling"),
    good=[
        conversation(legacy("call-nonexistent", error={"code": -32602})),
    ],
    bad=[
        conversation(legacy("call-nonexistent", result={"content": []})),
        conversation(legacy("call-nonexistent", result={"content": [], "isError": True})),
        conversation(legacy("call-nonexistent", error={"code": -32603})),
    ],
    unjudged=[
        conversation(legacy("ping", result={})),
        conversation(legacy("call-nonexistent", status=504)),
        conversation(legacy("call-nonexistent", status=404, form="other")),
    ],
)
def unknown_tool_served(talk: Conversation) -> Iterator[Answer]:
    """A call of a tool that does not exist is an error, -32602.

    The specification says so in prose, without a MUST, so this is information. A result with `isError` is what most
    libraries answer, and other codes tell a client as much; both are only mentioned. A call that succeeds is worse: the
    model believes that something was done.
    """
    for exchange in read_by_server(talk.clear("call-nonexistent"), talk.talk):
        if exchange.succeeded and exchange.fields.get("isError") is not True:
            yield exchange, "a tool that does not exist was called with success"
        elif exchange.code != INVALID_PARAMS:
            said = "a result with isError" if exchange.succeeded else reply(exchange)
            yield Tolerated(f"{said}, error {INVALID_PARAMS} expected", exchange)
