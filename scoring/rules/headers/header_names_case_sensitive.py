"""Rule `header-names-case-sensitive`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.conversation import Conversation
from scoring.conversing import conversation, modern
from scoring.outcome import Severity
from scoring.replies import reply
from scoring.rule import Answer, must, rule


@rule(
    "header-names-case-sensitive",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="Headers in capitals are not recognised",
    since="2026.2",
    version=1,
    checks=must("HDR-07", "E", "basic/transports/streamable-http#case-sensitivity"),
    good=[
        conversation(modern("discover-headers-uppercase", result={"supportedVersions": ["2026-07-28"]})),
    ],
    bad=[
        conversation(modern("discover-headers-uppercase", status=400, error={"code": -32020})),
        conversation(modern("discover-headers-uppercase", status=404, form="other")),
    ],
    unjudged=[
        conversation(modern("discover", result={})),
        conversation(modern("discover-headers-uppercase", status=502)),
    ],
)
def header_names_case_sensitive(talk: Conversation) -> Iterator[Answer]:
    """Header names have no case: `MCP-PROTOCOL-VERSION` is `mcp-protocol-version`.

    Libraries and proxies rewrite the case as they like. A server that looks names up as they are spelled serves some
    clients and turns others away.
    """
    for exchange in talk.clear("discover-headers-uppercase"):
        if not exchange.succeeded:
            yield exchange, f"{reply(exchange)}, a result expected"
