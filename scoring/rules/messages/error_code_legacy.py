"""Rule `error-code-legacy`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, rule, should
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange
from scoring.protocol.error_codes import list_emitted_errors
from scoring.results.outcome import Severity
from scoring.scopes.conversation import Conversation


@rule(
    "error-code-legacy",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.WARNING,
    title="An error has a code of a closed range",
    remedy="Replace a code from -32000 to -32019 with a JSON-RPC code such as -32602 or -32603, a code that MCP "
    "defines, or your own code outside of -32768 to -32000.",
    since="2026.2",
    version=1,
    to_the_end=True,
    checks=should("ERR-02", "E", "basic#error-codes"),
    fix=(
        build_conversation(modern_exchange("call-nonexistent", error={"code": -32000, "message": "Unknown tool: add"})),
        build_conversation(modern_exchange("call-nonexistent", error={"code": -32602, "message": "Unknown tool: add"})),
    ),
    good=[
        build_conversation(modern_exchange("unknown-method", status=404, error={"code": -32601})),
        build_conversation(modern_exchange("read-nonexistent", error={"code": -32002})),
        build_conversation(modern_exchange("read-nonexistent", error={"code": -32020})),
    ],
    bad=[
        build_conversation(modern_exchange("discover-origin", status=403, error={"code": -32000})),
        build_conversation(modern_exchange("call-nonexistent", error={"code": -32019})),
    ],
    unjudged=[
        build_conversation(modern_exchange("discover", result={})),
        build_conversation(modern_exchange("list-tools", status=503, error={"code": -32000})),
        build_conversation(
            modern_exchange("malformed", status=400, error={"code": -32000}), legacy_exchange("initialize", result={})
        ),
        build_conversation(
            modern_exchange("discover-meta-missing", status=400, error={"code": -32000}),
            legacy_exchange("initialize", result={}),
        ),
    ],
)
def error_code_legacy(conversation: Conversation) -> Iterator[Answer]:
    """Do not use the codes from -32000 to -32019: their meaning is not defined.

    Implementations used them before the specification assigned ranges. New servers use the codes of JSON-RPC, those
    that the specification defines, or their own codes outside of -32768 to -32000. The usual finding is -32000, which
    some libraries use for every error. -32002 is judged by `error-code-reserved`.
    """
    for exchange, code in list_emitted_errors(conversation):
        if -32019 <= code <= -32000 and code != -32002:
            yield exchange, f"error {code} is in the closed range from -32000 to -32019"
