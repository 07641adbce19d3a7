"""Rule `capability-not-object`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange
from scoring.protocol import result_schemas
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.conversation import Conversation


@rule(
    "capability-not-object",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A declared capability is not an object",
    remedy='Declare each capability as an object, such as `"tools": {}`. Omit a capability that the server does '
    "not have.",
    since="2026.2",
    version=1,
    checks=must("CAP-05", "ABCDE", "schema#servercapabilities"),
    fix=(
        build_conversation(
            legacy_exchange(
                "initialize",
                result={
                    "protocolVersion": "2025-11-25",
                    "capabilities": {"tools": True},
                    "serverInfo": {"name": "notes", "version": "1.0.0"},
                },
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
            legacy_exchange("initialize", result={"capabilities": {"tools": {}, "logging": {}, "house/own": True}})
        ),
        build_conversation(legacy_exchange("initialize", revision="A", result={"capabilities": {"completions": True}})),
    ],
    bad=[
        build_conversation(legacy_exchange("initialize", result={"capabilities": {"tools": True}})),
        build_conversation(modern_exchange("discover", result={"capabilities": {"prompts": None}})),
        build_conversation(legacy_exchange("initialize", result={"capabilities": {"completions": []}})),
    ],
    unjudged=[
        build_conversation(legacy_exchange("initialize", result={"capabilities": None})),
        build_conversation(legacy_exchange("initialize", error={"code": -32603})),
    ],
)
def capability_not_object(conversation: Conversation) -> Iterator[Answer]:
    """A capability is declared with an object, an empty one when there are no options: `"tools": {}`.

    Strict clients reject `true` together with the whole result, and clients differ in their reading of `null`. Leave
    out a capability that the server lacks. Names that the revision does not define are not judged.
    """
    declared = [
        (exchange, capabilities)
        for exchange in conversation.results("initialize", "discover")
        if isinstance(capabilities := exchange.fields.get("capabilities"), Mapping)
    ]
    if not declared:
        raise Inapplicable("no capabilities")
    for exchange, capabilities in declared:
        for row in result_schemas.SHAPES["ServerCapabilities"]:
            value = capabilities.get(row.name, {})
            if exchange.connection.revision in row.revisions and not isinstance(value, Mapping):
                yield exchange, f"capability {row.name} is not an object"
