"""Rule `pulls-unanswered`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.outcome import Severity
from scoring.project_examples import met, project, sourced
from scoring.project_scope import Project
from scoring.rule import Answer, rule
from scoring.unanswered import unanswered


@rule(
    "pulls-unanswered",
    scope=Project,
    reads="repository",
    severity=Severity.WARNING,
    title="Pull requests of others wait long for an answer",
    since="2026.3",
    version=1,
    good=[
        project(pulls=met()),
        project(pulls=met(unanswered=2, answered=8)),
    ],
    bad=[
        project(pulls=met(median_response_s=90 * 86_400)),
        project(pulls=met(unanswered=8, answered=2)),
    ],
    unjudged=[
        project(pulls=met(sampled=2, answered=0, unanswered=2)),
        project(pulls=None),
        sourced(),
    ],
)
def pulls_unanswered(project: Project) -> Iterator[Answer]:
    """Whoever reports a problem wants to know whether anybody read it.

    Half of the pull requests that others opened within a year should have a first answer by a maintainer within a
    month, in a large project within a week. One word and a label are an answer. Requests without any answer count as
    waiting for ever.
    """
    return unanswered(project.hosted.pulls, project.size)
