"""Rule `commits-ceased`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring import upkeep, weighing
from scoring.outcome import Inapplicable, NotMeasured, Partly, Severity
from scoring.project_examples import ago, project, sourced
from scoring.project_scope import Project
from scoring.rule import Answer, rule


@rule(
    "commits-ceased",
    scope=Project,
    reads="repository",
    severity=Severity.WARNING,
    title="Nobody has committed for long",
    since="2026.3",
    version=1,
    good=[
        project(last_commit_at=ago(90)),
    ],
    bad=[
        project(last_commit_at=ago(400)),
        project(last_commit_at=ago(150), stars=5000, contributors={"count": 90}),
    ],
    unjudged=[
        project(last_commit_at=None),
        sourced(),
    ],
)
def commits_ceased(project: Project) -> Iterator[Answer]:
    """A project in which nobody works any more will not follow the protocol or mend what breaks.

    How long a project may rest depends on its size: a lone maintainer's finished tool half a year, a project of many
    people two months. Commits of bots do not count. A small commit that shows that somebody still looks after it is
    enough.
    """
    days = project.days_since(project.hosted.last_commit_at)
    left = upkeep.points(days, upkeep.ACTIVITY, project.size)
    if isinstance(left, NotMeasured):
        raise Inapplicable(left.detail)
    if left < weighing.FULL:
        yield Partly(f"the last commit by a person was {days} days ago", 1 - left / weighing.FULL)
