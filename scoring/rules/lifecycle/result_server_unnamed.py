"""Rule `result-server-unnamed`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from scoring.engine.rule import Answer, rule, should
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange
from scoring.protocol.list_pages import LIST_STEPS
from scoring.results.outcome import Severity
from scoring.scopes.conversation import Conversation

_KEY: Final = "io.modelcontextprotocol/serverInfo"


@rule(
    "result-server-unnamed",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.WARNING,
    title="A result does not name its server",
    remedy="Add `io.modelcontextprotocol/serverInfo`, an object with `name` and `version`, to `_meta` of every result.",
    since="2026.2",
    version=1,
    checks=should("DISC-03", "E", "basic#meta"),
    fix=(
        build_conversation(
            modern_exchange(
                "list-tools",
                result={"tools": [], "resultType": "complete", "ttlMs": 0, "cacheScope": "private", "_meta": {}},
            )
        ),
        build_conversation(
            modern_exchange(
                "list-tools",
                result={
                    "tools": [],
                    "resultType": "complete",
                    "ttlMs": 0,
                    "cacheScope": "private",
                    "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "notes", "version": "1"}},
                },
            )
        ),
    ),
    good=[build_conversation(modern_exchange("discover", result={"_meta": {_KEY: {"name": "notes", "version": "1"}}}))],
    bad=[
        build_conversation(
            modern_exchange("discover", result={"_meta": {_KEY: "notes"}}),
            modern_exchange("list-tools", result={"_meta": None}),
        )
    ],
    unjudged=[
        build_conversation(legacy_exchange("list-tools", result={})),
        build_conversation(modern_exchange("discover", status=500)),
    ],
)
def result_server_unnamed(conversation: Conversation) -> Iterator[Answer]:
    """Without a handshake each result names the server and its version, for logs and error reports.

    Put `io.modelcontextprotocol/serverInfo` into `_meta` of every result. The SDKs do so by default.
    """
    for exchange in conversation.results("discover", *LIST_STEPS):
        meta = exchange.fields.get("_meta")
        if not isinstance(meta, Mapping) or not isinstance(meta.get(_KEY), Mapping):
            yield exchange, f"no {_KEY} in _meta"
