"""Rule `registration-title-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_registration
from scoring.results.outcome import Severity
from scoring.scopes.base import Registered


@rule(
    "registration-title-missing",
    scope=Registered,
    reads="registration",
    severity=Severity.SUGGESTION,
    title="Registry entry has no title",
    remedy="Add `title` to the registry entry: the server's name for users, such as `Notes`.",
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
                "title": "Notes",
            }
        ),
    ),
    good=[build_registration({"title": "Notes"})],
    bad=[build_registration({"name": "io.example/notes"})],
)
def registration_title_missing(registered: Registered) -> Iterator[str]:
    """Catalogues show the title to users; the name of an entry is only an identifier."""
    if not registered.registration.text("title", "about.title"):
        yield "no title in the entry"
