"""Rule `error-code-reserved`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange
from scoring.protocol.error_codes import list_emitted_errors
from scoring.results.outcome import Severity
from scoring.scopes.conversation import Conversation

_DEFINED: Final = frozenset({-32020, -32021, -32022})
_RETIRED: Final = frozenset({-32002, -32042})


@rule(
    "error-code-reserved",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="An error has a code that the protocol reserves",
    remedy="Use a JSON-RPC code such as -32602, use -32020, -32021 or -32022 as MCP defines them, or use your "
    "own code outside of -32768 to -32000. Use -32602 for a missing resource.",
    since="2026.2",
    version=1,
    to_the_end=True,
    checks=must("ERR-01", "E", "basic#error-codes"),
    fix=(
        build_conversation(modern_exchange("call-nonexistent", error={"code": -32042, "message": "Unknown tool: add"})),
        build_conversation(modern_exchange("call-nonexistent", error={"code": -32602, "message": "Unknown tool: add"})),
    ),
    good=[
        build_conversation(modern_exchange("discover-version-mismatch", status=400, error={"code": -32020})),
        build_conversation(modern_exchange("unknown-method", status=404, error={"code": -32601})),
        build_conversation(modern_exchange("call-nonexistent", error={"code": 7})),
    ],
    bad=[
        build_conversation(modern_exchange("read-nonexistent", error={"code": -32002})),
        build_conversation(modern_exchange("call-nonexistent", error={"code": -32042})),
        build_conversation(modern_exchange("discover-client-missing", status=400, error={"code": -32023})),
        build_conversation(modern_exchange("discover-client-missing", status=400, error={"code": -32099})),
    ],
    unjudged=[
        build_conversation(modern_exchange("discover", result={})),
        build_conversation(modern_exchange("list-tools", status=500, error={"code": -32050})),
        build_conversation(
            modern_exchange("discover-version-missing", error={"code": -32002}),
            legacy_exchange("initialize", result={}),
        ),
    ],
)
def error_code_reserved(conversation: Conversation) -> Iterator[Answer]:
    """The codes from -32020 to -32099 belong to the specification, which defines only -32020, -32021 and -32022.

    A code of your own in that range may get another meaning in a later revision. -32002 and -32042 come from older
    revisions and are not used any more: a missing resource is error -32602 now. Use your own codes outside of -32768 to
    -32000.
    """
    for exchange, code in list_emitted_errors(conversation):
        if code in _RETIRED:
            yield exchange, f"error {code} is retired"
        elif -32099 <= code <= -32020 and code not in _DEFINED:
            yield exchange, f"error {code} is reserved and not defined"
