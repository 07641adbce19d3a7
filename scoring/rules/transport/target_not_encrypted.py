"""Rule `target-not-encrypted`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from evidence.canonical import Json
from scoring.engine.rule import Answer, must, rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.conversation import build_conversation, legacy_exchange
from scoring.results.outcome import Inapplicable, Severity
from scoring.scopes.conversation import Conversation
from scoring.text.evidence_path import clip_text
from scoring.text.origins import parse_origin

_REMOTE: Final = ("streamable-http", "sse")


def _reached(address: Json, kind: str = "streamable-http") -> Conversation:
    target: dict[str, Json] = {"type": kind, "identifier": address}
    return build_conversation(legacy_exchange("initialize", result={}), target=target)


@rule(
    "target-not-encrypted",
    scope=Conversation,
    reads="exchanges",
    severity=Severity.ERROR,
    title="The server is reached over plain HTTP",
    remedy="Serve the endpoint over HTTPS with a valid certificate, and register its `https://` URL instead of the "
    "`http://` URL.",
    since="2026.2",
    version=1,
    checks=must("HTTP-13", "ABCDE", "basic/authorization/security-considerations"),
    fix=write_snippet(
        Language.JSON,
        "Remote in `server.json`",
        before='{"type": "streamable-http", "url": "http://notes.example/mcp"}',
        after='{"type": "streamable-http", "url": "https://notes.example/mcp"}',
    ),
    good=[
        _reached("https://notes.example/mcp"),
        _reached("http://localhost:8080/mcp"),
        _reached("http://127.0.0.1/mcp"),
    ],
    bad=[_reached("http://notes.example/mcp"), _reached("HTTP://localhost.notes.example/mcp")],
    unjudged=[_reached("https://notes.example/notes.mcpb", "mcpb"), _reached(None), _reached("http://[bad")],
)
def target_not_encrypted(conversation: Conversation) -> Iterator[Answer]:
    """Over plain HTTP any intermediary can read tokens and requests, and change the responses.

    Serve the endpoint over HTTPS and register that URL. Only servers on the user's own machine may use plain HTTP.
    """
    address, kind = conversation.recorded.target.get("identifier"), conversation.recorded.target.get("type")
    if kind not in _REMOTE or not isinstance(address, str):
        raise Inapplicable("not reached by an address")
    origin = parse_origin(address)
    if origin is None:
        raise Inapplicable("the address is not a URL")
    if origin.scheme == "http" and not origin.is_loopback:
        yield f"{clip_text(address)}, HTTPS expected"
