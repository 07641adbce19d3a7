"""Rule `http-version-missing-refused`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.conversation import Conversation
from scoring.conversing import conversation, legacy
from scoring.outcome import Severity
from scoring.replies import reply
from scoring.rule import Answer, rule, should
from scoring.streamable import in_session, streamable


@rule(
    "http-version-missing-refused",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.WARNING,
    title="A request without the version header is refused",
    since="2026.2",
    version=1,
    checks=should("HTTP-05", "CD", "basic/transports#protocol-version-header"),
    good=[
        conversation(legacy("version-missing", result={"tools": []})),
        conversation(legacy("version-missing", error={"code": -32601})),
    ],
    bad=[
        conversation(legacy("version-missing", status=400, error={"code": -32000})),
        conversation(legacy("version-missing", error={"code": -32600})),
    ],
    unjudged=[
        conversation(legacy("version-missing", status=429)),
        conversation(legacy("version-missing", status=404, session={"length": 36, "visible": True, "same_as": None})),
    ],
)
def http_version_missing_refused(talk: Conversation) -> Iterator[Answer]:
    """Clients of revision 2025-03-26 do not send `MCP-Protocol-Version`; without it that version is assumed.

    Within a session the negotiated version is known anyway. Refusing such requests locks out older clients for nothing.
    """
    for exchange in in_session(streamable(talk).clear("version-missing")):
        if not exchange.succeeded and exchange.code != -32601:
            yield exchange, f"{reply(exchange)}, an answer under 2025-03-26 expected"
