"""Rule `registration-website-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_registration
from scoring.results.outcome import Severity
from scoring.scopes.base import Registered


@rule(
    "registration-website-missing",
    scope=Registered,
    reads="registration",
    severity=Severity.SUGGESTION,
    title="Registry entry names no website",
    remedy="Set `websiteUrl` of the registry entry to the address of the server's website or documentation.",
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
                "websiteUrl": "https://notes.example",
            }
        ),
    ),
    good=[build_registration({"websiteUrl": "https://notes.example"})],
    bad=[build_registration({"name": "io.example/notes"})],
)
def registration_website_missing(registered: Registered) -> Iterator[str]:
    """A website or a documentation page gives users the information that has no place in a registry entry."""
    if not registered.registration.text("websiteUrl", "website_url"):
        yield "no websiteUrl in the entry"
