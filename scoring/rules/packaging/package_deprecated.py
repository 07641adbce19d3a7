"""Rule `package-deprecated`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.outcome import Severity
from scoring.path import clip
from scoring.project_examples import published
from scoring.project_scope import Published
from scoring.rule import rule


@rule(
    "package-deprecated",
    scope=Published,
    reads="package",
    severity=Severity.WARNING,
    title="The package is deprecated",
    since="2026.3",
    version=1,
    good=[
        published(),
    ],
    bad=[
        published(deprecated="use notes-server"),
    ],
)
def package_deprecated(published: Published) -> Iterator[str]:
    """Its publisher says that it should not be used any more.

    Register what replaces it, or mark the registration as deprecated.
    """
    notice = published.package.deprecated
    if notice is not None:
        yield f"deprecated: {clip(notice)}" if notice else "deprecated"
