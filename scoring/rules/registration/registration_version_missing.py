"""Rule `registration-version-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.listing import registered
from scoring.results.outcome import Severity
from scoring.scopes.base import Registered


@rule(
    "registration-version-missing",
    scope=Registered,
    reads="registration",
    severity=Severity.WARNING,
    title="Registry entry has no version",
    since="2026.1",
    version=1,
    good=[registered({"version": "1.0.0"}), registered({"version_detail": {"version": "1.0.0"}})],
    bad=[registered({"name": "io.example/notes"}), registered({"version": ""})],
)
def registration_version_missing(registered: Registered) -> Iterator[str]:
    """Without a version nobody can tell which release an entry describes, or pin it."""
    if not registered.registration.text("version", "version_detail.version", "source.commit"):
        yield "no version in the entry"
