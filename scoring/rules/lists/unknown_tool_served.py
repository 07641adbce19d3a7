"""Rule `unknown-tool-served`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, info, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange
from scoring.protocol.replies import INVALID_PARAMS, describe_reply, list_read_by_server
from scoring.results.outcome import Severity, Tolerated
from scoring.scopes.conversation import Conversation


@rule(
    "unknown-tool-served",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.WARNING,
    title="A call of a tool that does not exist succeeds",
    remedy="Answer `tools/call` of an unknown `name` with JSON-RPC error -32602 (Invalid params). Do not return "
    "a result.",
    since="2026.2",
    version=1,
    checks=info("TOOL-13", "ABCDE", "server/tools#error-handling"),
    fix=(
        build_conversation(legacy_exchange("call-nonexistent", result={"content": []})),
        build_conversation(legacy_exchange("call-nonexistent", error={"code": -32602, "message": "Unknown tool: add"})),
    ),
    good=[build_conversation(legacy_exchange("call-nonexistent", error={"code": -32602}))],
    bad=[
        build_conversation(legacy_exchange("call-nonexistent", result={"content": [], "isError": True})),
        build_conversation(legacy_exchange("call-nonexistent", error={"code": -32603})),
    ],
    unjudged=[
        build_conversation(legacy_exchange("ping", result={})),
        build_conversation(legacy_exchange("call-nonexistent", status=504)),
        build_conversation(legacy_exchange("call-nonexistent", status=404, form="other")),
    ],
)
def unknown_tool_served(conversation: Conversation) -> Iterator[Answer]:
    """Answer a call of a tool that does not exist with error -32602.

    The specification requires it in prose, without a MUST, so this check is for information only. Most libraries return
    a result with `isError`, and other codes inform a client as well; both are tolerated. After a successful call the
    model assumes that an action was performed.
    """
    for exchange in list_read_by_server(conversation.conclusive("call-nonexistent"), conversation.recorded):
        if exchange.succeeded and exchange.fields.get("isError") is not True:
            yield exchange, "the call of a tool that does not exist succeeded"
        elif exchange.code != INVALID_PARAMS:
            reply = "a result with isError" if exchange.succeeded else describe_reply(exchange)
            yield Tolerated(f"{reply}, error {INVALID_PARAMS} expected", exchange)
