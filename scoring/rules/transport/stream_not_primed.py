"""Rule `stream-not-primed`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from evidence.kinds.exchanges import Received
from scoring.engine.rule import Answer, info, rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.conversation import build_conversation, legacy_exchange
from scoring.protocol.list_pages import LIST_STEPS
from scoring.protocol.streamable_http import only_streamable_http
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.conversation import Conversation

_ORDINARY: Final = frozenset({"initialize", "ping", *LIST_STEPS})
_ANSWERED: Final = {"message": {"jsonrpc": "2.0", "id": 1, "result": {}}, "event": "message", "id": True}


def _streamed(first: dict[str, Any], step: str = "ping", **members: Any) -> dict[str, Any]:
    return legacy_exchange(step, form="stream", received=[{"event": "message", **first}, _ANSWERED], **members)


@rule(
    "stream-not-primed",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.INFO,
    title="A stream does not begin with an event to resume from",
    remedy="No change is needed if clients cannot resume streams of the server; otherwise begin each stream under "
    "revision 2025-11-25 with an event that has an `id` and empty `data`.",
    since="2026.2",
    version=1,
    to_the_end=True,
    checks=info("HTTP-08", "D", "basic/transports#sending-messages-to-the-server"),
    fix=write_snippet(
        Language.HTTP,
        "First event of the stream",
        before="""
        HTTP/1.1 200 OK
        Content-Type: text/event-stream

        data: {"jsonrpc":"2.0","id":1,"result":{}}
        """,
        after="""
        HTTP/1.1 200 OK
        Content-Type: text/event-stream

        id: 1
        data:

        id: 2
        data: {"jsonrpc":"2.0","id":1,"result":{}}
        """,
    ),
    good=[
        build_conversation(_streamed({"text": "", "id": True})),
        build_conversation(
            _streamed({"text": "", "id": True}), legacy_exchange("version-missing", form="stream", result={})
        ),
    ],
    bad=[
        build_conversation(legacy_exchange("ping", form="stream", result={})),
        build_conversation(_streamed({"text": "", "id": False})),
        build_conversation(_streamed({"text": "hello", "id": True})),
    ],
    unjudged=[
        build_conversation(legacy_exchange("ping", result={})),
        build_conversation(legacy_exchange("ping", revision="C", form="stream", result={})),
        build_conversation(legacy_exchange("initialize-unknown", form="stream", result={})),
    ],
)
def stream_not_primed(conversation: Conversation) -> Iterator[Answer]:
    """An event with an id and no data at the start of a stream lets a client resume after a broken connection.

    The specification recommends it, but only servers that keep sent events can use the id, and revision 2026-07-28
    removed it, so this check is for information only. Only ordinary requests are judged: without a version, or under an
    older one, a stream must not begin in this way.
    """
    streams = [
        one for one in only_streamable_http(conversation).exchanges if one.step in _ORDINARY and one.form == "stream"
    ]
    conclusive = [one for one in streams if one.received and not one.unclear]
    if not conclusive:
        raise Inapplicable("no answer came as a stream")
    unprimed = (one for one in conclusive if not _primes(one.received[0]))
    # A server does so with all its streams, or with none: one of them is enough to say.
    for exchange in sorted(unprimed, key=lambda one: one.at)[:1]:
        yield exchange, "the first event is not an empty event with an id"


def _primes(first: Received) -> bool:
    return first.has_id and first.message is None and not first.text
