"""Rule `session-end-misanswered`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.kinds.exchanges import Exchange
from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange
from scoring.protocol.replies import describe_reply
from scoring.protocol.streamable_http import only_streamable_http
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.conversation import Conversation


@rule(
    "session-end-misanswered",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A request in an ended session is not answered with 404",
    remedy="Answer each request with the `Mcp-Session-Id` of an ended session with HTTP 404. "
    "If clients may not end sessions, answer DELETE with HTTP 405.",
    since="2026.2",
    version=1,
    checks=must("SESS-04", "BCD", "basic/transports#session-management"),
    fix=(
        build_conversation(
            legacy_exchange("end", session={"length": 36, "visible": True, "same_as": None}, verb="DELETE"),
            legacy_exchange("after-end", session={"length": 36, "visible": True, "same_as": None}, status=400),
        ),
        build_conversation(
            legacy_exchange("end", session={"length": 36, "visible": True, "same_as": None}, verb="DELETE"),
            legacy_exchange("after-end", session={"length": 36, "visible": True, "same_as": None}, status=404),
        ),
    ),
    bad=[
        build_conversation(
            legacy_exchange("end", session={"length": 36, "visible": True, "same_as": None}, verb="DELETE", status=204),
            legacy_exchange("after-end", session={"length": 36, "visible": True, "same_as": None}, result={}),
        )
    ],
    unjudged=[
        build_conversation(
            legacy_exchange("end", session={"length": 36, "visible": True, "same_as": None}, verb="DELETE", status=405)
        ),
        build_conversation(legacy_exchange("end", verb="DELETE")),
        build_conversation(
            legacy_exchange("end", session={"length": 36, "visible": True, "same_as": None}, verb="DELETE"),
            legacy_exchange("after-end", session={"length": 36, "visible": True, "same_as": None}, status=500),
        ),
    ],
)
def session_end_misanswered(conversation: Conversation) -> Iterator[Answer]:
    """HTTP 404 shows a client that its session has ended, and the client starts a new one.

    After any other status it keeps using the ended session until it is restarted. A server that does not let clients
    end a session answers DELETE with 405 and is not tested further.
    """
    ended = [one for one in only_streamable_http(conversation).conclusive("end") if _has_ended(one)]
    if not ended:
        raise Inapplicable("sessions are not ended by clients")
    for exchange in only_streamable_http(conversation).conclusive("after-end"):
        if exchange.status != 404:
            yield exchange, f"{describe_reply(exchange)} after the session was ended, HTTP 404 expected"


def _has_ended(exchange: Exchange) -> bool:
    return exchange.connection.session is not None and exchange.status is not None and exchange.status < 300
