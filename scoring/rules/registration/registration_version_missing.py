"""Rule `registration-version-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_registration
from scoring.results.outcome import Severity
from scoring.scopes.base import Registered


@rule(
    "registration-version-missing",
    scope=Registered,
    reads="registration",
    severity=Severity.WARNING,
    title="Registry entry has no version",
    remedy="Set `version` of the registry entry to the release that it describes, for example `1.0.0`.",
    since="2026.1",
    version=1,
    fix=(
        build_registration({"name": "io.github.octo/notes", "description": "Reads and searches the notes of a user."}),
        build_registration(
            {
                "name": "io.github.octo/notes",
                "description": "Reads and searches the notes of a user.",
                "version": "1.0.0",
            }
        ),
    ),
    good=[build_registration({"version": "1.0.0"}), build_registration({"version_detail": {"version": "1.0.0"}})],
    bad=[build_registration({"name": "io.example/notes"}), build_registration({"version": ""})],
)
def registration_version_missing(registered: Registered) -> Iterator[str]:
    """Without a version users cannot see which release an entry describes, and cannot pin it."""
    if not registered.registration.text("version", "version_detail.version", "source.commit"):
        yield "no version in the entry"
