"""Rule `project-ci-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.outcome import Severity
from scoring.project_examples import project, sourced
from scoring.project_scope import Project
from scoring.rule import rule


@rule(
    "project-ci-missing",
    scope=Project,
    reads="repository",
    severity=Severity.SUGGESTION,
    title="No automation builds and tests the project",
    since="2026.3",
    version=1,
    good=[
        project(ci=True),
        sourced(ci=[".github/workflows/test.yml"]),
    ],
    bad=[
        project(ci=False),
        sourced(),
    ],
    unjudged=[
        project(),
        sourced(origin="npm"),
        sourced(complete=False),
    ],
)
def project_ci_missing(project: Project) -> Iterator[str]:
    """A change that nobody tested breaks what worked.

    Let the host run the tests on every change.
    """
    if not project.has("ci"):
        yield "no workflow of continuous integration"
