"""Rule `error-code-legacy`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.codes import emitted
from scoring.conversation import Conversation
from scoring.conversing import conversation, legacy, modern
from scoring.outcome import Severity
from scoring.rule import Answer, rule, should


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
        conversation(modern("unknown-method", status=404, error={"code": -32601})),
        conversation(modern("read-nonexistent", error={"code": -32002})),
        conversation(modern("read-nonexistent", error={"code": -32020})),
    ],
    bad=[
        conversation(modern("discover-origin", status=403, error={"code": -32000})),
        conversation(modern("call-nonexistent", error={"code": -32019})),
    ],
    unjudged=[
        conversation(modern("discover", result={})),
        conversation(modern("list-tools", status=503, error={"code": -32000})),
        conversation(modern("malformed", status=400, error={"code": -32000}), legacy("initialize", result={})),
        conversation(
            modern("discover-meta-missing", status=400, error={"code": -32000}), legacy("initialize", result={})
        ),
    ],
)
def error_code_legacy(talk: Conversation) -> Iterator[Answer]:
    """The codes from -32000 to -32019 were taken by implementations before anyone shared them out.

    No client knows what they mean, so new servers use the codes of JSON-RPC, those that the specification defines, or
    codes of their own outside of -32768 to -32000. The usual finding is -32000, which some libraries answer for
    anything. -32002 is a matter of `error-code-reserved`.
    """
    for exchange, code in emitted(talk):
        if -32019 <= code <= -32000 and code != -32002:
            yield exchange, f"error {code}"
