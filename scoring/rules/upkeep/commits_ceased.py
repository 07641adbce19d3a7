"""Rule `commits-ceased`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, rule
from scoring.example_builders.project import build_project, build_source_only_project, days_ago
from scoring.results import weighting
from scoring.results.outcome import Inapplicable, NotMeasured, PartialFailure, Severity
from scoring.scopes import maintenance
from scoring.scopes.project import Project


@rule(
    "commits-ceased",
    scope=Project,
    reads="repository",
    severity=Severity.WARNING,
    title="The last commit is old",
    remedy="Commit a change, such as a fix or an update of a dependency, at least every 6 months, in a large project "
    "every 2 months. Commits of bots do not count.",
    since="2026.3",
    version=1,
    good=[build_project(last_commit_at=days_ago(90))],
    bad=[
        build_project(last_commit_at=days_ago(400)),
        build_project(last_commit_at=days_ago(150), stars=5000, contributors={"count": 90}),
    ],
    unjudged=[build_project(last_commit_at=None), build_source_only_project()],
)
def commits_ceased(project: Project) -> Iterator[Answer]:
    """A project without maintenance will not follow changes of the protocol and will not fix defects.

    How long a project may be inactive depends on its size: half a year for a finished tool of one maintainer, two
    months for a project of many people. Commits of bots do not count. One small commit is enough.
    """
    days = project.days_since(project.hosted.last_commit_at)
    left = maintenance.compute_points(days, maintenance.ACTIVITY, project.size)
    if isinstance(left, NotMeasured):
        raise Inapplicable(left.detail)
    if left < weighting.FULL_POINTS:
        yield PartialFailure(f"the last commit by a person was {days} days ago", 1 - left / weighting.FULL_POINTS)
