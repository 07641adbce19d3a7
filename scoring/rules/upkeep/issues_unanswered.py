"""Rule `issues-unanswered`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.outcome import Severity
from scoring.project_examples import met, project, sourced
from scoring.project_scope import Project
from scoring.rule import Answer, rule
from scoring.unanswered import unanswered


@rule(
    "issues-unanswered",
    scope=Project,
    reads="repository",
    severity=Severity.WARNING,
    title="Issues of others wait long for an answer",
    since="2026.3",
    version=1,
    good=[
        project(issues=met()),
        project(issues=met(unanswered=2, answered=8)),
    ],
    bad=[
        project(issues=met(median_response_s=90 * 86_400)),
        project(issues=met(unanswered=8, answered=2)),
    ],
    unjudged=[
        project(issues=met(sampled=2, answered=0, unanswered=2)),
        project(issues=None),
        sourced(),
    ],
)
def issues_unanswered(project: Project) -> Iterator[Answer]:
    """Whoever reports a problem wants to know whether anybody read it.

    Half of the issues that others opened within a year should have a first answer by a maintainer within a month, in
    a large project within a week. One word and a label are an answer. Issues without any answer count as waiting for
    ever.
    """
    return unanswered(project.hosted.issues, project.size)
