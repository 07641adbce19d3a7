"""Rule `registration-repository-not-found`."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from scoring.engine.rule import rule
from scoring.example_builders.listing import build_registration
from scoring.results.outcome import Severity
from scoring.scopes.base import Registered
from scoring.text.evidence_path import clip_text


@rule(
    "registration-repository-not-found",
    scope=Registered,
    reads="registration",
    severity=Severity.WARNING,
    title="The repository of the registry entry does not exist",
    remedy="Make the repository public, or publish the registry entry again with the current address in "
    "`repository.url`.",
    since="2026.3",
    version=1,
    good=[build_registration({"repository": {"url": "https://code.example/notes"}})],
    bad=[replace(build_registration({"repository": {"url": "https://code.example/notes"}}), gone="HTTP 404")],
)
def registration_repository_not_found(registered: Registered) -> Iterator[str]:
    """With a broken link users find neither the source, nor the issue tracker, nor the maintainers.

    Make the repository public, or register its current address.
    """
    if registered.gone and registered.registration.text("repository.url", "source.project"):
        yield f"the host of the repository answers {clip_text(registered.gone)}"
