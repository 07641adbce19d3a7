"""Rule `remote-transport-deprecated`."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.kinds.registration import transport_type
from scoring.engine.rule import rule
from scoring.example_builders.listing import build_remote
from scoring.results.outcome import Severity
from scoring.scopes.base import Remote


@rule(
    "remote-transport-deprecated",
    scope=Remote,
    reads="registration",
    severity=Severity.WARNING,
    title="Remote offers the deprecated SSE transport",
    remedy="Serve the remote over streamable HTTP. Set `type` of the remote in the registration to "
    "`streamable-http`, and `url` to the new endpoint.",
    since="2026.1",
    version=1,
    spec="https://modelcontextprotocol.io/specification/2025-03-26/basic/transports",
    fix=(build_remote(type="sse", url="https://notes.example/sse"), build_remote()),
    bad=[build_remote(type="sse"), build_remote(type=None, transport_type="SSE")],
)
def remote_transport_deprecated(remote: Remote) -> Iterator[str]:
    """HTTP with SSE was replaced by streamable HTTP in protocol version 2025-03-26, and clients stop supporting it."""
    if transport_type(remote.raw) == "sse":
        yield "type is sse, streamable-http expected"
