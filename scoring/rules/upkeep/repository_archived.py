"""Rule `repository-archived`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.outcome import Severity
from scoring.project_examples import project, sourced
from scoring.project_scope import Project
from scoring.rule import rule


@rule(
    "repository-archived",
    scope=Project,
    reads="repository",
    severity=Severity.ERROR,
    title="The repository is archived",
    since="2026.3",
    version=1,
    good=[
        project(archived=False),
        project(),
    ],
    bad=[
        project(archived=True),
        project(disabled=True),
    ],
    unjudged=[
        sourced(),
    ],
)
def repository_archived(project: Project) -> Iterator[str]:
    """An archived repository takes no reports and no fixes: its owner has said that the work is over.

    Say in the README what to use instead, and mark the registration as deprecated.
    """
    if project.hosted.archived:
        yield "its owner has archived it"
    elif project.hosted.disabled:
        yield "its host has disabled it"
