"""Rule `package-deprecated`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.project import build_published_package
from scoring.results.outcome import Severity
from scoring.scopes.project import Published
from scoring.text.evidence_path import clip_text


@rule(
    "package-deprecated",
    scope=Published,
    reads="package",
    severity=Severity.WARNING,
    title="The package is deprecated",
    remedy="Register the package that replaces it, or set the status of the registration to `deprecated`. Remove "
    "the notice from the index if you still maintain the package.",
    since="2026.3",
    version=1,
    good=[build_published_package()],
    bad=[build_published_package(deprecated="use notes-server")],
)
def package_deprecated(published: Published) -> Iterator[str]:
    """The publisher marked the package as deprecated.

    Register its replacement, or mark the registration as deprecated.
    """
    notice = published.package.deprecated
    if notice is not None:
        yield f"deprecated: {clip_text(notice)}" if notice else "deprecated"
