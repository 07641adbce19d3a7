"""Rule `registration-not-installable`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_registration
from scoring.results.outcome import Severity
from scoring.scopes.base import Registered


@rule(
    "registration-not-installable",
    scope=Registered,
    reads="registration",
    severity=Severity.ERROR,
    title="Registry entry declares no package and no remote",
    remedy="Add a package to `packages` of the registry entry, or a remote with its `url` to `remotes`.",
    since="2026.1",
    version=1,
    fix=(
        build_registration(
            {
                "name": "io.github.octo/notes",
                "description": "Reads and searches the notes of a user.",
                "version": "1.0.0",
            }
        ),
        build_registration(
            {
                "name": "io.github.octo/notes",
                "description": "Reads and searches the notes of a user.",
                "version": "1.0.0",
                "remotes": [{"type": "streamable-http", "url": "https://notes.example/mcp"}],
            }
        ),
    ),
    good=[
        build_registration({"packages": [{"identifier": "notes-mcp"}]}),
        build_registration({"remotes": [{"url": "https://notes.example/mcp"}]}),
    ],
    bad=[build_registration({"name": "io.example/notes", "packages": []}), build_registration({"remotes": None})],
)
def registration_not_installable(registered: Registered) -> Iterator[str]:
    """Declare a package or a remote; without one the reader of the entry cannot start the server."""
    known = registered.registration
    if not known.packages and not known.remotes and not known.text("image", "remote.url"):
        yield "no package and no remote in the entry"
