"""Rule `project-licence-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.outcome import Severity
from scoring.project_examples import project, sourced
from scoring.project_scope import Project
from scoring.rule import rule


@rule(
    "project-licence-missing",
    scope=Project,
    reads="repository",
    severity=Severity.WARNING,
    title="The project has no licence",
    since="2026.3",
    version=1,
    good=[
        project(licence="MIT"),
        sourced(licence="/LICENSE"),
        project(package={"licence": "MIT"}),
    ],
    bad=[
        sourced(),
        project(source={"origin": "github", "complete": True}),
    ],
    unjudged=[
        project(),
        sourced(origin="npm"),
        sourced(complete=False),
    ],
)
def project_licence_missing(project: Project) -> Iterator[str]:
    """Without a licence nobody has the right to use, change or pass on the code.

    Put a LICENSE file into the root; any that the host recognises will do.
    """
    if not project.has("licence"):
        yield "no licence file"
