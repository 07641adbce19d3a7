"""Rule `initialize-result-incomplete`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange
from scoring.results.outcome import Severity
from scoring.scopes.conversation import Conversation


@rule(
    "initialize-result-incomplete",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="The result of initialize lacks a required member",
    remedy="Return `protocolVersion` as a string, `capabilities` as an object (`{}` if nothing is offered), and "
    "`serverInfo` with the strings `name` and `version` in the result of `initialize`.",
    since="2026.2",
    version=1,
    checks=must("LIFE-01", "ABCD", "basic/lifecycle#initialization"),
    fix=(
        build_conversation(
            legacy_exchange(
                "initialize", result={"protocolVersion": 1, "capabilities": None, "serverInfo": {"name": "notes"}}
            )
        ),
        build_conversation(
            legacy_exchange(
                "initialize",
                result={
                    "protocolVersion": "2025-11-25",
                    "capabilities": {"tools": {}},
                    "serverInfo": {"name": "notes", "version": "1.0.0"},
                },
            )
        ),
    ),
    good=[
        build_conversation(
            legacy_exchange(
                "initialize",
                result={
                    "protocolVersion": "2025-11-25",
                    "capabilities": {},
                    "serverInfo": {"name": "notes", "version": "1"},
                },
            )
        )
    ],
    bad=[build_conversation(legacy_exchange("initialize", result={}))],
    unjudged=[
        build_conversation(legacy_exchange("initialize", status=503)),
        build_conversation(modern_exchange("discover", result={})),
    ],
)
def initialize_result_incomplete(conversation: Conversation) -> Iterator[Answer]:
    """The result of the handshake states the protocol version, the capabilities and the name of the server.

    `protocolVersion` is a string, `capabilities` an object (an empty one when nothing is offered), and `serverInfo` has
    a `name` and a `version`. SDKs close the connection when one of them is missing or of another type.
    """
    for exchange in conversation.results("initialize"):
        info = exchange.fields.get("serverInfo")
        if not isinstance(exchange.fields.get("protocolVersion"), str):
            yield exchange, "protocolVersion is not a string"
        if not isinstance(exchange.fields.get("capabilities"), Mapping):
            yield exchange, "capabilities is not an object"
        for member in ("name", "version"):
            if not isinstance(info, Mapping) or not isinstance(info.get(member), str):
                yield exchange, f"serverInfo.{member} is not a string"
