"""Rule `header-name-undecoded`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, modern_exchange
from scoring.protocol.replies import HEADER_MISMATCH, describe_reply
from scoring.results.outcome import Severity
from scoring.scopes.conversation import Conversation


@rule(
    "header-name-undecoded",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="An encoded Mcp-Name is compared without decoding it",
    remedy="Decode the Base64 text of an `Mcp-Name` header of the form `=?base64?...?=` before you compare it with "
    "the name in the body.",
    since="2026.2",
    version=1,
    checks=must("HDR-06", "E", "basic/transports/streamable-http#value-encoding"),
    fix=(
        build_conversation(
            modern_exchange(
                "call-name-encoded", status=400, error={"code": -32020, "message": "Mcp-Name differs from the body"}
            )
        ),
        build_conversation(
            modern_exchange("call-name-encoded", error={"code": -32602, "message": "Unknown tool: add"})
        ),
    ),
    good=[
        build_conversation(modern_exchange("call-name-encoded", error={"code": -32602})),
        build_conversation(modern_exchange("call-name-encoded", result={"isError": True})),
    ],
    bad=[build_conversation(modern_exchange("call-name-encoded", status=400, error={"code": -32020}))],
    unjudged=[
        build_conversation(modern_exchange("discover", result={})),
        build_conversation(modern_exchange("call-name-encoded", failure=("timeout", "no answer in 15 s"))),
    ],
)
def header_name_undecoded(conversation: Conversation) -> Iterator[Answer]:
    """A name that does not fit into a header is sent as `=?base64?...?=` and must be decoded before the comparison.

    Otherwise a tool whose name is not plain ASCII cannot be called, because the header never equals the body.
    """
    for exchange in conversation.conclusive("call-name-encoded"):
        if exchange.code == HEADER_MISMATCH:
            yield exchange, f"{describe_reply(exchange)}, although the decoded name equals the name in the body"
