"""Rule `subscription-unacknowledged`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from evidence.canonical import Json
from evidence.kinds.exchanges import Exchange
from scoring.conversation import Conversation
from scoring.conversing import conversation, modern
from scoring.outcome import Inapplicable, Severity, Undecided
from scoring.replies import METHOD_NOT_FOUND, reply
from scoring.rule import Answer, must, rule

_METHOD: Final = "notifications/subscriptions/acknowledged"
_ID: Final = "io.modelcontextprotocol/subscriptionId"
_CHANGING: Final = modern("discover", result={"capabilities": {"tools": {"listChanged": True}}})
_SENT: Final = {"jsonrpc": "2.0", "id": 9, "method": "subscriptions/listen"}


def _heard(method: str, meta: Json) -> dict[str, Json]:
    return {"message": {"jsonrpc": "2.0", "method": method, "params": {"_meta": meta, "notifications": {}}}}


@rule(
    "subscription-unacknowledged",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A subscription does not begin with its acknowledgement",
    since="2026.2",
    version=1,
    checks=must("SUB-01", "E", "basic/patterns/subscriptions#acknowledgment"),
    good=[
        conversation(_CHANGING, modern("listen", sent=_SENT, received=[_heard(_METHOD, {_ID: 9})], form="stream")),
    ],
    bad=[
        conversation(_CHANGING, modern("listen", sent=_SENT, received=[_heard(_METHOD, {})], form="stream")),
        conversation(
            _CHANGING, modern("listen", sent=_SENT, received=[_heard(_METHOD, {_ID: "another"})], form="stream")
        ),
        conversation(
            _CHANGING,
            modern(
                "listen", sent=_SENT, received=[_heard("notifications/tools/list_changed", {_ID: 9})], form="stream"
            ),
        ),
        conversation(_CHANGING, modern("listen", sent=_SENT, status=404, error={"code": -32601})),
    ],
    unjudged=[
        conversation(
            modern("discover", result={"capabilities": {"tools": {}}}), modern("listen", sent=_SENT, received=[])
        ),
        conversation(_CHANGING, modern("listen", sent=_SENT, received=[], form="stream")),
        conversation(_CHANGING, modern("listen", sent=_SENT, error={"code": -32603})),
        conversation(_CHANGING, modern("listen", status=401)),
        conversation(_CHANGING),
    ],
)
def subscription_unacknowledged(talk: Conversation) -> Iterator[Answer]:
    """The first message on a subscription is `notifications/subscriptions/acknowledged`, with its id.

    It tells the client that it listens, and to what. A client that never sees it does not know whether silence means
    that nothing changed. A server that declares `listChanged` has to take `subscriptions/listen`, its only way to say
    so.
    """
    asked = talk.asked("listen")
    tools = talk.capabilities("modern").get("tools")
    if not isinstance(tools, Mapping) or tools.get("listChanged") is not True:
        raise Inapplicable("listChanged is not declared")
    heard = [one for one in asked if one.code == METHOD_NOT_FOUND or any(each.is_notification for each in one.received)]
    if not heard:
        raise Undecided(asked[0].unclear or reply(asked[0]))
    for exchange in heard:
        if complaint := _complaint(exchange):
            yield exchange, complaint


def _complaint(exchange: Exchange) -> str:
    first = next((one.members for one in exchange.received if one.is_notification), None)
    if first is None:
        return f"{reply(exchange)}, although listChanged is declared"
    if first["method"] != _METHOD:
        return "the first message is another notification than the acknowledgement"
    params = first.get("params")
    meta = params.get("_meta") if isinstance(params, Mapping) else None
    given = meta.get(_ID) if isinstance(meta, Mapping) else None
    sent = exchange.sent.get("id") if isinstance(exchange.sent, Mapping) else None
    return "" if given == sent and given is not None else "the acknowledgement has no id, or another one"
