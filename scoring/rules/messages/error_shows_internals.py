"""Rule `error-shows-internals`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evidence.kinds.exchanges import Exchange
from scoring.engine.rule import Answer, info, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, stdio_exchange
from scoring.results.outcome import Inapplicable, Severity, Undecided
from scoring.scopes.conversation import LEFT_OUT, Conversation
from scoring.text.evidence_path import clip_text
from scoring.text.internals import find_internals, list_strings

_HANDING_OUT: Final = frozenset(
    {"call-nonexistent", "call-name-mismatch", "call-name-encoded", "read-nonexistent", "prompt-nonexistent"}
)
"""Steps whose answers are not in the public transcript; `trial-error-shows-internals` judges errors of tools."""
_TRACE: Final = 'Traceback (most recent call last):\n  File "/app/server.py", line 12, in handle'


@rule(
    "error-shows-internals",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.WARNING,
    title="An error shows internals of the server",
    remedy="Remove stack traces, file paths, credentials, environment variables and database addresses from error "
    "messages, error `data` and HTTP bodies. Write them to the log of the server, without credentials.",
    since="2026.3",
    version=2,
    checks=info("ERR-03", "ABCDE"),
    fix=(
        build_conversation(
            legacy_exchange(
                "cursor-invented", error={"code": -32603, "message": "Error at /app/server.py:12: no such row"}
            )
        ),
        build_conversation(legacy_exchange("cursor-invented", error={"code": -32602, "message": "Unknown cursor"})),
    ),
    good=[
        build_conversation(legacy_exchange("unknown-method", error={"code": -32601, "message": "Method not found"})),
        build_conversation(legacy_exchange("stream", status=404, form="other", received=[{"text": "Cannot GET /mcp"}])),
    ],
    bad=[
        build_conversation(legacy_exchange("malformed", status=400, form="other", received=[{"text": _TRACE}])),
        build_conversation(legacy_exchange("cursor-invented", error={"code": -32603, "message": _TRACE})),
        build_conversation(
            legacy_exchange("ping", error={"code": -32603, "message": "no", "data": {"stack": ["x", _TRACE]}})
        ),
        build_conversation(
            legacy_exchange(
                "cursor-invented",
                error={"code": -32603, "message": "bad key [secret]"},
                received=[
                    {
                        "message": {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "key [secret]"}},
                        "reveals": "a credential",
                    }
                ],
            )
        ),
        build_conversation(
            legacy_exchange(
                "cursor-invented",
                error={"code": -32603, "message": "ENOENT: no such file or directory, open '/app/data/a.json'"},
            )
        ),
    ],
    unjudged=[
        build_conversation(legacy_exchange("call-nonexistent", error={"code": -32602, "message": _TRACE})),
        build_conversation(legacy_exchange("ping", result={})),
        build_conversation(stdio_exchange("unknown-method", error={"code": -32603, "message": _TRACE})),
    ],
)
def error_shows_internals(conversation: Conversation) -> Iterator[Answer]:
    """Answer with what was wrong about the request, and write stack traces, paths and variables to your own log.

    They tell an attacker which software runs where, and they take the place of what a client needs to know. The
    specification has no rule about this, so the check is for information only. Errors over stdio are not judged,
    because they stay on the user's own machine.
    """
    judged, known = False, set[str]()
    for exchange in conversation.exchanges:
        texts = [] if exchange.step in _HANDING_OUT or not exchange.over_http else list(_list_error_texts(exchange))
        judged = judged or bool(texts)
        if not texts or exchange.at in known:
            continue
        sent = list(list_strings(exchange.sent))
        internals = (find_internals(text, sent) for text in texts)
        if shown := next(filter(None, (*_list_revealed(exchange), *internals)), None):
            known.add(exchange.at)
            yield exchange, f"the error shows {clip_text(shown)}"
    if not judged:
        if conversation.leaves_out("unknown-method"):
            raise Undecided(LEFT_OUT)
        raise Inapplicable("no error over HTTP has a text")


def _list_revealed(exchange: Exchange) -> Iterator[str]:
    """What the error revealed before it was masked."""
    is_refused = exchange.status is not None and exchange.status >= 400
    is_error = exchange.error is not None or exchange.fields.get("isError") is True
    for one in exchange.received:
        if is_refused or (is_error and one is exchange.answer):
            yield one.reveals


def _list_error_texts(exchange: Exchange) -> Iterator[str]:
    if exchange.error is not None:
        yield from list_strings(exchange.error, named=True)
    if exchange.fields.get("isError") is True:
        yield from list_strings(exchange.fields.get("content"), named=True)
    if exchange.status is not None and exchange.status >= 400:
        yield from (one.text for one in exchange.received if one.text)
        yield from (
            text for one in exchange.received if not one.is_answer for text in list_strings(one.message, named=True)
        )
