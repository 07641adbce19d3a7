"""Rule `server-protocol-version-old`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_server
from scoring.results.outcome import Severity
from scoring.scopes.base import Server
from scoring.text.evidence_path import clip_text


@rule(
    "server-protocol-version-old",
    scope=Server,
    reads="listing",
    severity=Severity.WARNING,
    title="Server supports only an old protocol version",
    remedy="Support protocol version `2025-03-26` or later, for example with a newer SDK. Return the agreed "
    "version as `protocolVersion` in the result of `initialize`.",
    since="2026.1",
    version=1,
    fix=(build_server(protocolVersion="2024-11-05"), build_server()),
)
def server_protocol_version_old(server: Server, oldest: str = "2025-03-26") -> Iterator[str]:
    """Clients stop supporting old revisions over time.

    Revisions before 2025-03-26 have neither streamable HTTP nor tool annotations.
    """
    version = server.listing.protocol_version or ""
    if version < oldest:
        yield f"{clip_text(version) or 'no version'}, {oldest} or later expected"
