"""Rule `project-changelog-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.outcome import Severity
from scoring.project_examples import project, sourced
from scoring.project_scope import Project
from scoring.rule import rule


@rule(
    "project-changelog-missing",
    scope=Project,
    reads="repository",
    severity=Severity.SUGGESTION,
    title="The project has no changelog",
    since="2026.3",
    version=1,
    good=[
        project(changelog=True),
        sourced(changelog="CHANGELOG.md"),
    ],
    bad=[
        project(changelog=False),
        sourced(),
    ],
    unjudged=[
        project(),
        sourced(origin="npm"),
        sourced(complete=False),
    ],
)
def project_changelog_missing(project: Project) -> Iterator[str]:
    """Before an upgrade a user wants to know what changes.

    Keep a CHANGELOG.md with a section for each version.
    """
    if not project.has("changelog"):
        yield "no changelog"
