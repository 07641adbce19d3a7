"""Rule `version-unknown-not-countered`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from evidence.kinds.exchanges import REVISIONS, Exchange
from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, stdio_exchange
from scoring.protocol.replies import describe_reply
from scoring.protocol.streamable_http import list_conclusive_exchanges, only_repeatable_openings
from scoring.results.outcome import Severity, Tolerated, Undecided
from scoring.scopes.conversation import Conversation
from scoring.text.evidence_path import clip_text

_UNKNOWN: Final = "initialize-unknown"
_TELLING: Final = frozenset({-32602, -32022})
_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_WITHOUT_INITIALIZE: Final = REVISIONS["E"]


def _handshake(**members: Any) -> Conversation:
    return build_conversation(
        legacy_exchange(
            "initialize",
            result={
                "protocolVersion": "2025-11-25",
                "capabilities": {},
                "serverInfo": {"name": "notes", "version": "1.0.0"},
            },
        ),
        legacy_exchange("initialize-unknown", **{"offered": "1900-01-01", "revision": "", **members}),
    )


@rule(
    "version-unknown-not-countered",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="An unknown version is not answered with a supported one",
    remedy="Answer `initialize` with a published `protocolVersion` that the server supports, such as "
    "`2025-11-25`. Do not repeat an unknown version, and do not answer it with an error.",
    since="2026.2",
    version=1,
    checks=must("LIFE-03", "ABCD", "basic/lifecycle#version-negotiation"),
    fix=(
        _handshake(
            result={
                "protocolVersion": "1900-01-01",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "notes", "version": "1.0.0"},
            },
            revision="1900-01-01",
        ),
        _handshake(
            result={
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "notes", "version": "1.0.0"},
            }
        ),
    ),
    good=[
        _handshake(result={"protocolVersion": "2025-06-18"}),
        _handshake(result={"protocolVersion": "2026-07-28"}, offered="2026-07-28", revision="E"),
    ],
    bad=[
        _handshake(result={"protocolVersion": "1900-01-01"}, revision="1900-01-01"),
        _handshake(result={}),
        _handshake(result={"protocolVersion": "2025-01-01"}, revision="2025-01-01"),
        _handshake(result={"protocolVersion": "1.0"}, revision="1.0"),
        _handshake(result={"protocolVersion": "2099-12-31"}, revision="2099-12-31"),
        _handshake(result={"protocolVersion": "2026-07-28"}, revision="2026-07-28"),
        build_conversation(legacy_exchange("initialize", revision="E", result={"protocolVersion": "2026-07-28"})),
        build_conversation(
            legacy_exchange("initialize", revision="2025-01-01", result={"protocolVersion": "2025-01-01"}),
            legacy_exchange(
                "initialize-unknown",
                offered="1900-01-01",
                revision="2025-11-25",
                result={"protocolVersion": "2025-11-25"},
            ),
        ),
        _handshake(error={"code": -32602}, opened=False),
        _handshake(error={"code": -32000}, opened=False),
        _handshake(status=400, opened=False),
        build_conversation(
            stdio_exchange("initialize", result={}),
            stdio_exchange(
                "initialize-unknown", offered="1900-01-01", revision="", error={"code": -32000}, opened=False
            ),
        ),
    ],
    unjudged=[
        _handshake(status=429, opened=False),
        _handshake(status=404, opened=False),
        build_conversation(legacy_exchange("initialize", result={}), depth="core"),
        build_conversation(stdio_exchange("initialize", result={})),
        build_conversation(
            legacy_exchange("initialize", result={}),
            legacy_exchange("initialize-2025-06-18", status=400, error={"code": -32600}, opened=False),
            legacy_exchange(
                "initialize-unknown", offered="1900-01-01", revision="", status=400, error={"code": -32600}
            ),
        ),
    ],
)
def version_unknown_not_countered(conversation: Conversation) -> Iterator[Answer]:
    """Answer an unknown version with a version that the server supports, preferably its newest.

    An echo of the offer, or a version that was never published, agrees to a protocol that does not exist, and an error
    leaves the client without a version to try. Version 2026-07-28 has no `initialize` and cannot be agreed to by it.
    Error -32602, which the specification shows as an example, is tolerated, and so are error -32022, a draft, and a
    version that may be newer than the ones known here.
    """
    narrowed = only_repeatable_openings(conversation)
    for exchange in narrowed.recorded.of("initialize"):
        if complaint := _find_complaint(exchange):
            yield exchange, complaint
            return
    for exchange in list_conclusive_exchanges(narrowed, narrowed.recorded.of(_UNKNOWN), _UNKNOWN):
        version = exchange.fields.get("protocolVersion")
        if exchange.code in _TELLING:
            yield Tolerated(f"error {exchange.code}, a supported version expected", exchange)
        elif not exchange.succeeded:
            if exchange.error is None and exchange.status != 400:
                raise Undecided(describe_reply(exchange))
            if _opens_once(narrowed):
                raise Undecided("no further initialize is answered")
            yield exchange, f"{describe_reply(exchange)}, a supported version expected"
        elif not isinstance(version, str):
            yield exchange, "protocolVersion is not a string"
        elif version == exchange.connection.offered not in REVISIONS.values():
            yield exchange, "the unknown version is accepted, a supported version expected"
        elif complaint := _find_complaint(exchange):
            yield exchange, complaint
        elif version not in REVISIONS.values():
            yield Tolerated(f"{clip_text(version, 40)} answered, a published version expected", exchange)


def _find_complaint(exchange: Exchange) -> str | None:
    """Why the answered version cannot be agreed to by `initialize`, if it cannot."""
    version = exchange.fields.get("protocolVersion")
    if not isinstance(version, str):
        return None
    if _was_never_published(version):
        return f"{clip_text(version, 40)} was never published, a published version expected"
    if version == _WITHOUT_INITIALIZE != exchange.connection.offered:  # an offered version may be agreed to
        return f"{version} has no initialize, an older version expected"
    return None


def _was_never_published(version: str) -> bool:
    """Whether a version is neither published, nor a draft, nor possibly newer than what is known here."""
    is_later = _DATE.fullmatch(version) is not None and version > max(REVISIONS.values())
    return version not in REVISIONS.values() and not is_later and not version.upper().startswith("DRAFT")


def _opens_once(conversation: Conversation) -> bool:
    """True for a server that answered no further initialize, whatever version it offered."""
    further = tuple(conversation.recorded.of(*(f"initialize-{version}" for version in REVISIONS.values())))
    return bool(further) and not any(exchange.succeeded for exchange in further)
