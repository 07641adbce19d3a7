"""Rule `package-version-not-published`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.outcome import Severity
from scoring.path import clip
from scoring.project_examples import published
from scoring.project_scope import Published
from scoring.rule import rule


@rule(
    "package-version-not-published",
    scope=Published,
    reads="package",
    severity=Severity.ERROR,
    title="The declared version of the package does not exist",
    since="2026.3",
    version=1,
    good=[
        published(),
        published(exists=False, version_exists=False),
    ],
    bad=[
        published(declared="9.0.0", version=None, version_exists=False),
    ],
)
def package_version_not_published(published: Published) -> Iterator[str]:
    """A client that installs what is registered gets an error.

    Publish the version before it is registered.
    """
    package = published.package
    if package.exists and not package.version_exists:
        yield f"version {clip(package.declared or '')} is not in the index"
