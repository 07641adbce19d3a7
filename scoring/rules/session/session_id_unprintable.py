"""Rule `session-id-unprintable`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, must, rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.conversation import build_conversation, legacy_exchange
from scoring.protocol.streamable_http import only_streamable_http
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.conversation import Conversation


@rule(
    "session-id-unprintable",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A session id has characters that a header cannot carry",
    remedy="Use only visible ASCII characters (0x21 to 0x7E) in `Mcp-Session-Id`, e.g. a UUID or random bytes in "
    "hexadecimal.",
    since="2026.2",
    version=1,
    checks=must("SESS-01", "BCD", "basic/transports#session-management"),
    fix=write_snippet(
        Language.PYTHON,
        "Source code",
        before='session_id = f"session {number}"',
        after="session_id = secrets.token_hex(16)",
    ),
    good=[
        build_conversation(
            legacy_exchange("initialize", result={}, session={"length": 36, "visible": True, "same_as": None})
        )
    ],
    bad=[
        build_conversation(
            legacy_exchange("initialize", result={}, session={"length": 36, "visible": False, "same_as": None})
        )
    ],
    unjudged=[
        build_conversation(legacy_exchange("initialize", result={})),
        build_conversation(legacy_exchange("initialize", status=503, session={"visible": False})),
    ],
)
def session_id_unprintable(conversation: Conversation) -> Iterator[Answer]:
    """A session id is sent in a header, so it may have only visible ASCII characters (0x21 to 0x7E).

    Proxies remove, trim or reject others. A UUID, or random bytes in hexadecimal, is always valid.
    """
    given = [
        one for one in only_streamable_http(conversation).results("initialize") if one.connection.session is not None
    ]
    if not given:
        raise Inapplicable("no session is assigned")
    for exchange in given:
        if exchange.connection.session and exchange.connection.session.get("visible") is False:
            yield exchange, "the session id has characters outside of 0x21 to 0x7E"
