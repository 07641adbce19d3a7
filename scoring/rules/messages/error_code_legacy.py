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
    title="An error has a code of the range that is closed",
    since="2026.2",
    version=1,
    checks=should("ERR-02", "E", "basic#error-codes"),
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
    """The codes from -32000 to -32019 were taken by implementations before anyone shared them out.

    No client knows what they mean, so new servers use the codes of JSON-RPC, those that the specification defines, or
    codes of their own outside of -32768 to -32000. The usual finding is -32000, which some libraries answer for
    anything. -32002 is a matter of `error-code-reserved`.
    """
    for exchange, code in list_emitted_errors(conversation):
        if -32019 <= code <= -32000 and code != -32002:
            yield exchange, f"error {code}"
