"""Rule `notification-answered`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.conversation import Conversation
from scoring.conversing import conversation, legacy, modern, stdio
from scoring.outcome import Severity, Undecided
from scoring.replies import BAD_REQUEST
from scoring.rule import Answer, must, rule
from scoring.streamable import STREAMABLE


@rule(
    "notification-answered",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A notification is answered",
    since="2026.2",
    version=1,
    checks=must("JSON-05", "ABCDE", "basic#notifications"),
    good=[
        conversation(legacy("initialized", status=202, form="none")),
        conversation(legacy("initialized", status=200, message={"ok": True})),
        conversation(stdio("initialized", result={"late": "to an earlier request"})),
    ],
    bad=[
        conversation(legacy("initialized", result={})),
        conversation(legacy("initialized", status=202, error={"code": -32601})),
        conversation(stdio("initialized", message={"jsonrpc": "2.0", "id": None, "error": {"code": -32601}})),
    ],
    unjudged=[
        conversation(modern("discover", result={})),
        conversation(legacy("initialized", status=400, error={"code": -32600})),
        conversation(legacy("initialized", failure=("timeout", "no answer in 15 s"))),
    ],
)
def notification_answered(talk: Conversation) -> Iterator[Answer]:
    """A notification has no id and gets no answer, neither a result nor an error.

    An answer to `notifications/initialized` belongs to no request: clients warn about it, or take the connection for
    broken. Over HTTP the body of the 202 is empty. A notification that is refused with an HTTP error is not judged
    here, nor is an answer with an id where all answers share one channel: it is a late one to a request.
    """
    accepted = [one for one in talk.clear("initialized") if (one.status or 0) < BAD_REQUEST]
    if not accepted:
        raise Undecided("the notification was refused")
    for exchange in accepted:
        answer, shared = exchange.answer, exchange.connection.transport != STREAMABLE
        if answer is not None and not (shared and answer.members.get("id") is not None):
            yield exchange, f"answered with {'an error' if exchange.error is not None else 'a result'}"
