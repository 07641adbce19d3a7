"""Rule `subscription-unacknowledged`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from evidence.canonical import Json
from evidence.kinds.exchanges import Exchange
from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, modern_exchange
from scoring.protocol.replies import METHOD_NOT_FOUND, describe_reply
from scoring.results.outcome import Inapplicable, Severity, Undecided
from scoring.scopes.conversation import Conversation

_METHOD: Final = "notifications/subscriptions/acknowledged"
_ID: Final = "io.modelcontextprotocol/subscriptionId"
_CHANGING: Final = modern_exchange("discover", result={"capabilities": {"tools": {"listChanged": True}}})
_SENT: Final = {"jsonrpc": "2.0", "id": 9, "method": "subscriptions/listen"}


def _notification(method: str, meta: Json) -> dict[str, Json]:
    return {"message": {"jsonrpc": "2.0", "method": method, "params": {"_meta": meta, "notifications": {}}}}


@rule(
    "subscription-unacknowledged",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A subscription does not begin with its acknowledgement",
    remedy="Support `subscriptions/listen`, or remove `listChanged`. Send "
    "`notifications/subscriptions/acknowledged` first, with the request id as "
    "`io.modelcontextprotocol/subscriptionId` in `params._meta`.",
    since="2026.2",
    version=1,
    checks=must("SUB-01", "E", "basic/patterns/subscriptions#acknowledgment"),
    good=[
        build_conversation(
            _CHANGING, modern_exchange("listen", sent=_SENT, received=[_notification(_METHOD, {_ID: 9})], form="stream")
        )
    ],
    bad=[
        build_conversation(
            _CHANGING, modern_exchange("listen", sent=_SENT, received=[_notification(_METHOD, {})], form="stream")
        ),
        build_conversation(
            _CHANGING,
            modern_exchange("listen", sent=_SENT, received=[_notification(_METHOD, {_ID: "another"})], form="stream"),
        ),
        build_conversation(
            _CHANGING,
            modern_exchange(
                "listen",
                sent=_SENT,
                received=[_notification("notifications/tools/list_changed", {_ID: 9})],
                form="stream",
            ),
        ),
        build_conversation(_CHANGING, modern_exchange("listen", sent=_SENT, status=404, error={"code": -32601})),
    ],
    unjudged=[
        build_conversation(
            modern_exchange("discover", result={"capabilities": {"tools": {}}}),
            modern_exchange("listen", sent=_SENT, received=[]),
        ),
        build_conversation(_CHANGING, modern_exchange("listen", sent=_SENT, received=[], form="stream")),
        build_conversation(_CHANGING, modern_exchange("listen", sent=_SENT, error={"code": -32603})),
        build_conversation(_CHANGING, modern_exchange("listen", status=401)),
        build_conversation(_CHANGING),
    ],
)
def subscription_unacknowledged(conversation: Conversation) -> Iterator[Answer]:
    """The first message on a subscription is `notifications/subscriptions/acknowledged`, with its id.

    It confirms to the client that the subscription is active, and for what. Without it the client cannot conclude from
    silence that nothing changed. A server that declares `listChanged` must support `subscriptions/listen`, the only way
    to report changes.
    """
    exchanges = conversation.exchanges_of("listen")
    tools = conversation.capabilities("modern").get("tools")
    if not isinstance(tools, Mapping) or tools.get("listChanged") is not True:
        raise Inapplicable("listChanged is not declared")
    conclusive = [
        one for one in exchanges if one.code == METHOD_NOT_FOUND or any(each.is_notification for each in one.received)
    ]
    if not conclusive:
        raise Undecided(exchanges[0].unclear or describe_reply(exchanges[0]))
    for exchange in conclusive:
        if complaint := _complaint(exchange):
            yield exchange, complaint


def _complaint(exchange: Exchange) -> str:
    first = next((one.members for one in exchange.received if one.is_notification), None)
    if first is None:
        return f"{describe_reply(exchange)}, although listChanged is declared"
    if first["method"] != _METHOD:
        return "the first notification is not the acknowledgement"
    params = first.get("params")
    meta = params.get("_meta") if isinstance(params, Mapping) else None
    given = meta.get(_ID) if isinstance(meta, Mapping) else None
    sent = exchange.sent.get("id") if isinstance(exchange.sent, Mapping) else None
    return "" if given == sent and given is not None else "the acknowledgement does not have the id of the subscription"
