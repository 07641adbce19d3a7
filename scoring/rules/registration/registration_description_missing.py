"""Rule `registration-description-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.listing import registered
from scoring.results.outcome import Severity
from scoring.scopes.base import Registered


@rule(
    "registration-description-missing",
    scope=Registered,
    reads="registration",
    severity=Severity.ERROR,
    title="Registry entry has no description",
    since="2026.1",
    version=1,
    good=[registered({"description": "Reads and searches notes."}, {"name": "io.evil/notes"})],
    bad=[registered({"name": "io.example/notes", "description": "Notes"}), registered()],
)
def registration_description_missing(registered: Registered, minimum: int = 20) -> Iterator[str]:
    """The description is what people find in a registry before they install anything."""
    if len(registered.registration.text("description", "about.description")) < minimum:
        yield f"no description of at least {minimum} characters in the entry"
