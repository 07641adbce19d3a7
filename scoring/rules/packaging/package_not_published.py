"""Rule `package-not-published`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.project import build_published_package
from scoring.results.outcome import Severity
from scoring.scopes.project import Published
from scoring.text.evidence_path import clip_text


@rule(
    "package-not-published",
    scope=Published,
    reads="package",
    severity=Severity.ERROR,
    title="The declared package does not exist",
    remedy="Publish the package to its index under the declared name, correct the name in the registration, or "
    "remove the package from the registration.",
    since="2026.3",
    version=1,
    good=[build_published_package()],
    bad=[build_published_package(exists=False, version_exists=False)],
)
def package_not_published(published: Published) -> Iterator[str]:
    """A package that is not in the index cannot be installed, and an attacker could publish one under its name.

    Publish it, or remove it from the registration.
    """
    if not published.package.exists:
        yield f"{published.package.ecosystem} has no package {clip_text(published.package.name)}"
