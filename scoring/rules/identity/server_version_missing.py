"""Rule `server-version-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_server
from scoring.results.outcome import Severity
from scoring.scopes.base import Server
from scoring.text.evidence_path import quote_text


@rule(
    "server-version-missing",
    scope=Server,
    reads="listing",
    severity=Severity.WARNING,
    title="Server does not state its version",
    remedy="Set `serverInfo.version` to the version of the running release, such as `1.4.0`, and not to a "
    "placeholder such as `unknown`.",
    since="2026.1",
    version=1,
    fix=(build_server(serverInfo={"name": "notes", "version": "unknown"}), build_server()),
    good=[build_server(serverInfo={"name": "notes", "version": "1.0"})],
    bad=[build_server(serverInfo={"name": "notes"}), build_server(serverInfo={"version": "unknown"})],
)
def server_version_missing(server: Server, placeholders: tuple[str, ...] = ("unknown",)) -> Iterator[str]:
    """Without a version in `serverInfo` users cannot see which release answered, or that it changed."""
    version = server.info("version")
    if not version or version in placeholders:
        yield f"serverInfo.version is the placeholder {quote_text(version)}" if version else "no serverInfo.version"
