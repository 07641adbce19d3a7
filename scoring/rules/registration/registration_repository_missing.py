"""Rule `registration-repository-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_registration
from scoring.results.outcome import Severity
from scoring.scopes.base import Registered


@rule(
    "registration-repository-missing",
    scope=Registered,
    reads="registration",
    severity=Severity.WARNING,
    title="Registry entry names no repository",
    remedy="Set `repository.url` of the registry entry to the source repository, and `repository.source` to its host, "
    "such as `github`.",
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
                "repository": {"url": "https://github.com/octo/notes", "source": "github"},
            }
        ),
    ),
    good=[build_registration({"repository": {"url": "https://code.example/notes"}})],
    bad=[build_registration({"name": "io.example/notes"}), build_registration({"repository": {}})],
)
def registration_repository_missing(registered: Registered) -> Iterator[str]:
    """With a repository users can read the source, report problems and see the maintainers."""
    if not registered.registration.text("repository.url", "source.project"):
        yield "no repository in the entry"
