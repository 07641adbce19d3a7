"""Rule `package-needs-old-dependencies`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.listing import build_server
from scoring.results.outcome import Severity
from scoring.scopes.base import Server
from scoring.text.evidence_path import clip_text


@rule(
    "package-needs-old-dependencies",
    scope=Server,
    reads="listing",
    severity=Severity.ERROR,
    title="The package does not start with the dependencies of today",
    remedy="Give each dependency an upper bound below the next major version, make the server work with the newest "
    "dependencies that the bounds allow, and publish a new version.",
    since="2026.1",
    version=1,
    fix=write_snippet(
        Language.JSON,
        "`package.json`, for a server that needs the first major version of its library",
        before="""
        {
          "name": "notes-mcp",
          "dependencies": {"notes-library": ">=1.2.0"}
        }
        """,
        after="""
        {
          "name": "notes-mcp",
          "dependencies": {"notes-library": "^1.2.0"}
        }
        """,
    ),
    good=[build_server(), build_server(installed={"version": "1.2.0", "declared": "9.9.9"})],
    bad=[build_server(installed={"version": "1.2.0", "dependenciesOf": "2025-10-03"})],
)
def package_needs_old_dependencies(server: Server) -> Iterator[str]:
    """An installation today ends with an error, for every user.

    A dependency without an upper bound has changed since the package was released. The server was measured with the
    dependencies of its release date.
    """
    since = server.listing.installed.get("dependenciesOf")
    if isinstance(since, str):
        yield f"starts only with dependencies of {clip_text(since)}; an install today fails"
