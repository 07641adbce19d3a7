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
    remedy="Unarchive or re-enable the repository, or set `repository.url` in server.json to its replacement. "
    "If there is no replacement, set the status of the server to `deprecated` in the registry.",
    since="2026.3",
    version=1,
    good=[build_project(archived=False), build_project()],
    bad=[build_project(archived=True), build_project(disabled=True)],
    unjudged=[build_source_only_project()],
)
def repository_archived(project: Project) -> Iterator[str]:
    """An archived repository accepts no reports and no fixes, so name its replacement in the README.

    Mark the registration as deprecated.
    """
    if project.hosted.archived:
        yield "the owner has archived the repository"
    elif project.hosted.disabled:
        yield "the host has disabled the repository"
