"""Rule `project-contributing-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.outcome import Severity
from scoring.project_examples import project, sourced
from scoring.project_scope import Project
from scoring.rule import rule


@rule(
    "project-contributing-missing",
    scope=Project,
    reads="repository",
    severity=Severity.SUGGESTION,
    title="The project has no guide for contributors",
    since="2026.3",
    version=1,
    good=[
        project(community={"contributing": True}),
        sourced(contributing="CONTRIBUTING.md"),
    ],
    bad=[
        project(community={"contributing": False}),
        sourced(),
    ],
    unjudged=[
        project(),
        sourced(origin="npm"),
        sourced(complete=False),
    ],
)
def project_contributing_missing(project: Project) -> Iterator[str]:
    """Whoever wants to help needs to know how to build, test and submit.

    A CONTRIBUTING.md with the three commands is enough.
    """
    if not project.has("contributing"):
        yield "no guide for contributors"
