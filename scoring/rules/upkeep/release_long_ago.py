"""Rule `release-long-ago`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, rule
from scoring.example_builders.project import build_project, build_source_only_project, days_ago
from scoring.results import weighting
from scoring.results.outcome import Inapplicable, NotMeasured, PartialFailure, Severity
from scoring.scopes import maintenance
from scoring.scopes.project import Project


@rule(
    "release-long-ago",
    scope=Project,
    reads="repository",
    severity=Severity.WARNING,
    title="The last release is old",
    remedy="Publish a new version of the package or a release of the repository at least once a year, in a large "
    "project every 4 months.",
    since="2026.3",
    version=1,
    good=[
        build_project(releases={"count": 1, "latest_at": days_ago(200)}),
        build_project(package={"latest_published": days_ago(9)}, releases={"count": 1, "latest_at": days_ago(900)}),
    ],
    bad=[build_project(releases={"count": 1, "latest_at": days_ago(900)})],
    unjudged=[build_project(releases={"count": 0}), build_source_only_project()],
)
def release_long_ago(project: Project) -> Iterator[Answer]:
    """Users get only released versions: a fix that is only in the repository does not reach them.

    The newest release of the repository or of its package counts. A project that never released is not judged. Publish
    what has changed, with its version.
    """
    days = project.days_since(project.released_at) if project.hosted else None
    left = maintenance.compute_points(days, maintenance.RELEASES, project.size)
    if isinstance(left, NotMeasured):
        raise Inapplicable(left.detail)
    if left < weighting.FULL_POINTS:
        yield PartialFailure(f"the newest release is {days} days old", 1 - left / weighting.FULL_POINTS)
