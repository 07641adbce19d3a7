"""Rule `server-protocol-version-missing`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from scoring.examples import server
from scoring.outcome import Level, Severity
from scoring.path import clip
from scoring.rule import rule
from scoring.scope import Server

_VERSION = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


@rule(
    "server-protocol-version-missing",
    scope=Server,
    reads="listing",
    severity=Severity.ERROR,
    title="No protocol version was agreed",
    since="2026.1",
    version=1,
    level=Level.MUST,
    spec="https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle",
    good=[server(protocolVersion="2025-11-25")],
    bad=[server(protocolVersion=None), server(protocolVersion="1.0")],
)
def server_protocol_version_missing(server: Server) -> Iterator[str]:
    """The server has to answer with the protocol version it will speak.

    Without one a client cannot know which rules apply.
    """
    version = server.listing.protocol_version or ""
    if not _VERSION.fullmatch(version):
        yield f"{clip(version)!r} is not a date like 2025-11-25" if version else "no protocolVersion"
