"""Rule `result-breaks-schema`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evidence.kinds.exchanges import Exchange
from evidence.kinds.listing import UNDEFINED
from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange
from scoring.protocol import list_pages, result_schemas
from scoring.results.outcome import Severity
from scoring.scopes.conversation import Conversation

_OPENINGS: Final = (
    "initialize",
    "initialize-2024-11-05",
    "initialize-2025-03-26",
    "initialize-2025-06-18",
    "initialize-unknown",
)
_ENTRIES: Final = {"resources": "Resource", "resourceTemplates": "ResourceTemplate"}
_OPENED: Final = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {"listChanged": True}},
    "serverInfo": {"name": "notes", "version": "1.0.0"},
}
_MODERN: Final = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}


@rule(
    "result-breaks-schema",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A result does not match the published schema",
    remedy="Correct the named member so that the result matches the schema of the agreed revision. Omit optional "
    "members instead of setting them to `null`.",
    since="2026.2",
    version=1,
    to_the_end=True,
    checks=must("SCHEMA-01", "ABCDE", "schema"),
    fix=(
        build_conversation(
            legacy_exchange(
                "initialize",
                result={
                    "protocolVersion": "2025-11-25",
                    "capabilities": {"tools": {"listChanged": "yes"}},
                    "serverInfo": {"name": "notes", "version": "1.0.0"},
                },
            )
        ),
        build_conversation(
            legacy_exchange(
                "initialize",
                result={
                    "protocolVersion": "2025-11-25",
                    "capabilities": {"tools": {"listChanged": True}},
                    "serverInfo": {"name": "notes", "version": "1.0.0"},
                },
            )
        ),
    ),
    good=[
        build_conversation(
            legacy_exchange("initialize", result=_OPENED),
            legacy_exchange("list-tools", result={"tools": [{"name": 7}]}),
        ),
        build_conversation(
            legacy_exchange("initialize", revision="E", result={**_OPENED, "protocolVersion": "2026-07-28"})
        ),
        build_conversation(
            modern_exchange("discover", result={**_MODERN, "supportedVersions": ["2026-07-28"], "capabilities": {}}),
            modern_exchange("list-resources", result={**_MODERN, "resources": [{"uri": "memo://1", "name": "1"}]}),
        ),
    ],
    bad=[
        build_conversation(
            legacy_exchange("initialize", result={**_OPENED, "capabilities": {"tools": {"listChanged": "yes"}}})
        ),
        build_conversation(legacy_exchange("initialize", result={**_OPENED, "instructions": None})),
        build_conversation(
            modern_exchange("discover", result={**_MODERN, "supportedVersions": "2026-07-28", "capabilities": {}})
        ),
        build_conversation(legacy_exchange("list-tools", result={"tools": {}})),
        build_conversation(legacy_exchange("list-tools", result=[])),
        build_conversation(legacy_exchange("list-prompts", result={})),
        build_conversation(modern_exchange("list-tools", result={"tools": []})),
        build_conversation(legacy_exchange("list-resources", result={"resources": [{"uri": "memo://1"}]})),
        build_conversation(
            legacy_exchange("list-resourceTemplates", result={"resourceTemplates": [{"uriTemplate": 1, "name": "n"}]})
        ),
    ],
    unjudged=[
        build_conversation(legacy_exchange("initialize", error={"code": -32603})),
        build_conversation(legacy_exchange("ping", result={})),
        build_conversation(
            legacy_exchange("initialize-unknown", offered="1900-01-01", revision="E", result={"capabilities": []})
        ),
    ],
)
def result_breaks_schema(conversation: Conversation) -> Iterator[Answer]:
    """The results of the handshake and of lists must match the schema of the revision.

    Clients with the official libraries validate a result as a whole, and reject it for one member of the wrong type.
    The agreed revision is judged. The tools and prompts of a list are judged one by one by `tool-entry-invalid` and
    `prompt-entry-invalid`. Formats are hints and are not judged.
    """
    for exchange in conversation.results(*_OPENINGS, "discover", *list_pages.LIST_STEPS):
        if complaint := _complaint(exchange):
            yield exchange, complaint


def _complaint(exchange: Exchange) -> str | None:
    result = exchange.result
    if result is UNDEFINED:
        return None
    revision = exchange.connection.revision
    if exchange.step not in list_pages.LIST_STEPS:
        return result_schemas.find_mismatch(
            "DiscoverResult" if exchange.step == "discover" else "InitializeResult", result, revision
        )
    member = list_pages.list_member(exchange)
    if wrong := result_schemas.find_mismatch("Page", result, revision):
        return wrong
    found = exchange.fields.get(member)
    if not isinstance(found, list):
        return f"{member} is not an array" if member in exchange.fields else f"{member} is missing"
    kind = f"[{_ENTRIES[member]}]" if member in _ENTRIES else "[any]"
    return result_schemas.find_mismatch(kind, found, revision, at=member)
