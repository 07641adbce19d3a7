"""Rule `release-long-ago`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring import upkeep, weighing
from scoring.outcome import Inapplicable, NotMeasured, Partly, Severity
from scoring.project_examples import ago, project, sourced
from scoring.project_scope import Project
from scoring.rule import Answer, rule


@rule(
    "release-long-ago",
    scope=Project,
    reads="repository",
    severity=Severity.WARNING,
    title="The last release is long ago",
    since="2026.3",
    version=1,
    good=[
        project(releases={"count": 1, "latest_at": ago(200)}),
        project(package={"latest_published": ago(9)}, releases={"count": 1, "latest_at": ago(900)}),
    ],
    bad=[
        project(releases={"count": 1, "latest_at": ago(900)}),
    ],
    unjudged=[
        project(releases={"count": 0}),
        sourced(),
    ],
)
def release_long_ago(project: Project) -> Iterator[Answer]:
    """Users get what is released. A fix that is only in the repository does not reach them.

    The newest release of the repository or of its package counts. A project that never released is not judged.
    Publish what has changed, with its version.
    """
    days = project.days_since(project.released_at) if project.hosted else None
    left = upkeep.points(days, upkeep.RELEASES, project.size)
    if isinstance(left, NotMeasured):
        raise Inapplicable(left.detail)
    if left < weighing.FULL:
        yield Partly(f"the newest release is {days} days old", 1 - left / weighing.FULL)
