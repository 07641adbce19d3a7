"""Rule `server-name-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_server
from scoring.results.outcome import Severity
from scoring.scopes.base import Server
from scoring.text.evidence_path import quote_text


@rule(
    "server-name-missing",
    scope=Server,
    reads="listing",
    severity=Severity.WARNING,
    title="Server has no name",
    remedy="Set `serverInfo.name` to the name of the server, such as `notes`, and not to a placeholder such as "
    "`Unknown Server`.",
    since="2026.1",
    version=1,
    fix=(build_server(serverInfo={"name": "Unknown Server", "version": "1.0.0"}), build_server()),
    good=[build_server(serverInfo={"name": "notes"})],
    bad=[
        build_server(serverInfo={"name": ""}),
        build_server(serverInfo=None),
        build_server(serverInfo={"name": "Unknown Server"}),
    ],
)
def server_name_missing(server: Server, placeholders: tuple[str, ...] = ("Unknown Server",)) -> Iterator[str]:
    """Clients show the name in `serverInfo` in lists and logs."""
    name = server.info("name")
    if not name or name in placeholders:
        yield f"serverInfo.name is the placeholder {quote_text(name)}" if name else "no serverInfo.name"
