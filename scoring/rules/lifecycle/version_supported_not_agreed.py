"""Rule `version-supported-not-agreed`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evidence.kinds.exchanges import REVISIONS, Exchange
from scoring.engine.rule import Answer, must, rule
from scoring.example_builders.conversation import build_conversation, legacy_exchange, stdio_exchange
from scoring.protocol.streamable_http import only_repeatable_openings
from scoring.results.outcome import Severity
from scoring.scopes.conversation import Conversation
from scoring.text.evidence_path import clip_text


def _exchange(step: str, offered: str, answered: str) -> dict[str, Any]:
    return legacy_exchange(step, revision=answered, offered=offered, result={"protocolVersion": answered})


@rule(
    "version-supported-not-agreed",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="A supported version is not accepted",
    remedy="Answer `initialize` with the `protocolVersion` that the client offers if the server supports it. "
    "Answer with another version only if it does not.",
    since="2026.2",
    version=1,
    checks=must("LIFE-02", "ABCD", "basic/lifecycle#version-negotiation"),
    good=[
        build_conversation(
            _exchange("initialize", "2025-11-25", "2025-06-18"),
            _exchange("initialize-2025-06-18", "2025-06-18", "2025-06-18"),
        ),
        build_conversation(_exchange("initialize-2025-03-26", "2025-03-26", "2025-06-18")),
    ],
    bad=[
        build_conversation(
            _exchange("initialize-2024-11-05", "2024-11-05", "2024-11-05"),
            _exchange("initialize-2025-06-18", "2025-06-18", "2024-11-05"),
            _exchange("initialize-unknown", "1900-01-01", "2025-06-18"),
        ),
        build_conversation(
            _exchange("initialize", "2025-11-25", "2025-06-18"),
            _exchange("initialize-2025-06-18", "2025-06-18", "2025-06-18"),
            _exchange("initialize-unknown", "1900-01-01", "2025-11-25"),
        ),
        build_conversation(
            stdio_exchange("initialize", revision="2025-11-25", result={"protocolVersion": "2025-11-25"}),
            stdio_exchange(
                "initialize-2025-06-18",
                revision="2025-11-25",
                offered="2025-06-18",
                result={"protocolVersion": "2025-11-25"},
            ),
            stdio_exchange(
                "initialize-unknown",
                revision="2025-06-18",
                offered="1900-01-01",
                result={"protocolVersion": "2025-06-18"},
            ),
        ),
    ],
    unjudged=[
        build_conversation(stdio_exchange("initialize", result={})),
        build_conversation(legacy_exchange("initialize", result={}), depth="core"),
        build_conversation(
            legacy_exchange("initialize-2025-06-18", status=400), legacy_exchange("initialize", result={})
        ),
    ],
)
def version_supported_not_agreed(conversation: Conversation) -> Iterator[Answer]:
    """A client offers one version; a server that supports it must answer with the same version.

    A client that supports only this version closes the connection after another answer. A version counts as supported
    when the server itself answered with it to another offer.
    """
    narrowed = only_repeatable_openings(conversation)
    openings = narrowed.results(*(f"initialize-{version}" for version in REVISIONS.values()))
    spoken = {
        _answered(one) for one in narrowed.recorded.exchanges if one.step.startswith("initialize") and not one.unclear
    }
    first = (one for one in narrowed.exchanges if one.step == "initialize" and not one.unclear)
    for exchange in (*first, *openings):
        offered, answered = exchange.connection.offered, _answered(exchange)
        if answered and answered != offered and offered in spoken:
            yield exchange, f"{clip_text(answered, 40)} answered to {offered}, which the server supports"


def _answered(exchange: Exchange) -> str:
    version = exchange.fields.get("protocolVersion")
    return version if isinstance(version, str) else ""
