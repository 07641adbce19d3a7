"""Rule `package-not-published`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.outcome import Severity
from scoring.path import clip
from scoring.project_examples import published
from scoring.project_scope import Published
from scoring.rule import rule


@rule(
    "package-not-published",
    scope=Published,
    reads="package",
    severity=Severity.ERROR,
    title="The declared package does not exist",
    since="2026.3",
    version=1,
    good=[
        published(),
    ],
    bad=[
        published(exists=False, version_exists=False),
    ],
)
def package_not_published(published: Published) -> Iterator[str]:
    """Nobody can install a package that its index does not have, and anybody may publish one under that name tomorrow.

    Publish it, or remove it from the registration.
    """
    if not published.package.exists:
        yield f"{published.package.ecosystem} knows no {clip(published.package.name)}"
