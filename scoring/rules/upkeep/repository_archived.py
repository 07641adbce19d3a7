"""Rule `repository-archived`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.project import build_project, build_source_only_project
from scoring.results.outcome import Severity
from scoring.scopes.project import Project


@rule(
    "repository-archived",
    scope=Project,
    reads="repository",
    severity=Severity.ERROR,
    title="The repository is archived",
    since="2026.3",
    version=1,
    good=[build_project(archived=False), build_project()],
    bad=[build_project(archived=True), build_project(disabled=True)],
    unjudged=[build_source_only_project()],
)
def repository_archived(project: Project) -> Iterator[str]:
    """An archived repository takes no reports and no fixes: its owner has said that the work is over.

    Say in the README what to use instead, and mark the registration as deprecated.
    """
    if project.hosted.archived:
        yield "its owner has archived it"
    elif project.hosted.disabled:
        yield "its host has disabled it"
