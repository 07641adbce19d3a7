"""Rule `registration-description-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_registration
from scoring.results.outcome import Severity
from scoring.scopes.base import Registered


@rule(
    "registration-description-missing",
    scope=Registered,
    reads="registration",
    severity=Severity.ERROR,
    title="Registry entry has no description",
    remedy="Set `description` of the registry entry to 20 to 100 characters that state what the server does.",
    since="2026.1",
    version=1,
    fix=(
        build_registration({"name": "io.github.octo/notes", "description": "Notes", "version": "1.0.0"}),
        build_registration(
            {
                "name": "io.github.octo/notes",
                "description": "Reads and searches the notes of a user.",
                "version": "1.0.0",
            }
        ),
    ),
    good=[build_registration({"description": "Reads and searches notes."}, {"name": "io.evil/notes"})],
    bad=[build_registration({"name": "io.example/notes", "description": "Notes"}), build_registration()],
)
def registration_description_missing(registered: Registered, minimum: int = 20) -> Iterator[str]:
    """Users find a server in a registry by its description before they install it."""
    if len(registered.registration.text("description", "about.description")) < minimum:
        yield f"no description of at least {minimum} characters in the entry"
