"""Rule `package-release-long-ago`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, rule
from scoring.example_builders.project import build_published_package, days_ago
from scoring.results import weighting
from scoring.results.outcome import Inapplicable, NotMeasured, PartialFailure, Severity
from scoring.scopes import maintenance
from scoring.scopes.project import Published


@rule(
    "package-release-long-ago",
    scope=Published,
    reads="package",
    severity=Severity.WARNING,
    title="The latest version of the package is old",
    remedy="Publish a new version of the package with the changes and dependency updates since its latest version.",
    since="2026.3",
    version=1,
    good=[build_published_package()],
    bad=[build_published_package(latest_published=days_ago(900))],
    unjudged=[build_published_package(latest_published=None)],
)
def package_release_long_ago(published: Published) -> Iterator[Answer]:
    """Users get only published versions, so publish what has changed as a new version.

    For a project without a known repository, only the index shows when the last version was published.
    """
    days = published.days_since(published.package.latest_published)
    left = maintenance.compute_points(days, maintenance.RELEASES, published.size)
    if isinstance(left, NotMeasured):
        raise Inapplicable(left.detail)
    if left < weighting.FULL_POINTS:
        yield PartialFailure(f"the latest version is {days} days old", 1 - left / weighting.FULL_POINTS)
