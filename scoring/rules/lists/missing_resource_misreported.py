"""Rule `missing-resource-misreported`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, modern_exchange
from scoring.protocol.replies import INVALID_PARAMS, describe_reply, list_read_by_server
from scoring.results.outcome import Severity, Tolerated, Undecided
from scoring.scopes.conversation import Conversation

_RESOURCE_NOT_FOUND: Final = -32002


@rule(
    "missing-resource-misreported",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A resource that does not exist is not reported as missing",
    remedy="Answer `resources/read` of an unknown `uri` with error -32602 in revision 2026-07-28 and with error "
    "-32002 in older revisions. Do not return empty `contents`.",
    since="2026.2",
    version=1,
    checks=must("RES-02", "ABCDE", "server/resources#error-handling"),
    fix=(
        build_conversation(
            modern_exchange(
                "read-nonexistent",
                result={"contents": [], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"},
            )
        ),
        build_conversation(
            modern_exchange("read-nonexistent", error={"code": -32602, "message": "Unknown resource: memo://9"})
        ),
    ),
    good=[
        build_conversation(modern_exchange("read-nonexistent", error={"code": -32602})),
        build_conversation(legacy_exchange("read-nonexistent", error={"code": -32002})),
    ],
    bad=[
        build_conversation(modern_exchange("read-nonexistent", result={"contents": []})),
        build_conversation(modern_exchange("read-nonexistent", error={"code": -32002})),
        build_conversation(modern_exchange("read-nonexistent", error={"code": 0})),
        build_conversation(legacy_exchange("read-nonexistent", error={"code": -32602})),
        build_conversation(legacy_exchange("read-nonexistent", result={"contents": []})),
    ],
    unjudged=[
        build_conversation(modern_exchange("discover", result={})),
        build_conversation(
            modern_exchange("read-nonexistent", result={"resultType": "input_required", "requestState": "1"})
        ),
        build_conversation(modern_exchange("read-nonexistent", status=500)),
    ],
)
def missing_resource_misreported(conversation: Conversation) -> Iterator[Answer]:
    """Reading a resource that does not exist is an error: -32602 from 2026-07-28 on, -32002 before.

    An empty `contents` can also mean an empty resource, so a client cannot distinguish the two. Before 2026-07-28 the
    code is a SHOULD that few libraries follow, so any other answer is tolerated there.
    """
    read = [
        one for one in conversation.conclusive("read-nonexistent") if one.fields.get("resultType") != "input_required"
    ]
    if not read:
        raise Undecided("the server requested input")
    for exchange in list_read_by_server(read, conversation.recorded):
        is_modern = exchange.connection.revision == "E"
        expected = INVALID_PARAMS if is_modern else _RESOURCE_NOT_FOUND
        if exchange.code == expected:
            continue
        message = f"{describe_reply(exchange)}, error {expected} expected"
        yield (exchange, message) if is_modern else Tolerated(message, exchange)
