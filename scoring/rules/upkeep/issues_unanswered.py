"""Rule `issues-unanswered`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.analysis.response_times import judge_response_times
from scoring.engine.rule import Answer, rule
from scoring.example_builders.project import build_project, build_source_only_project, issue_threads
from scoring.results.outcome import Severity
from scoring.scopes.project import Project


@rule(
    "issues-unanswered",
    scope=Project,
    reads="repository",
    severity=Severity.WARNING,
    title="Issues of other users are answered late",
    remedy="Answer each issue of another user with a comment of a maintainer within 30 days, in a large project "
    "within 7 days. Begin with the issues that have no answer.",
    since="2026.3",
    version=1,
    good=[build_project(issues=issue_threads()), build_project(issues=issue_threads(unanswered=2, answered=8))],
    bad=[
        build_project(issues=issue_threads(median_response_s=90 * 86_400)),
        build_project(issues=issue_threads(unanswered=8, answered=2)),
    ],
    unjudged=[
        build_project(issues=issue_threads(sampled=2, answered=0, unanswered=2)),
        build_project(issues=None),
        build_source_only_project(),
    ],
)
def issues_unanswered(project: Project) -> Iterator[Answer]:
    """A user who reports a problem needs to know that a maintainer has read it.

    Half of the issues that others opened within a year should have a first answer by a maintainer within a month, in a
    large project within a week. A word and a label are an answer. Issues without any answer count as waiting for ever.
    """
    return judge_response_times(project.hosted.issues, project.size)
