"""Rule `project-licence-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.project import build_project, build_source_only_project
from scoring.results.outcome import Severity
from scoring.scopes.project import Project


@rule(
    "project-licence-missing",
    scope=Project,
    reads="repository",
    severity=Severity.WARNING,
    title="The project has no licence",
    remedy="Add a file `LICENSE` to the root of the repository, with the unchanged text of a standard licence, e.g. "
    "MIT or Apache-2.0.",
    since="2026.3",
    version=1,
    good=[
        build_project(licence="MIT"),
        build_source_only_project(licence="/LICENSE"),
        build_project(package={"licence": "MIT"}),
    ],
    bad=[build_source_only_project(), build_project(source={"origin": "github", "complete": True})],
    unjudged=[build_project(), build_source_only_project(origin="npm"), build_source_only_project(complete=False)],
)
def project_licence_missing(project: Project) -> Iterator[str]:
    """Without a licence users have no right to use, change or distribute the code.

    Put a LICENSE file into the root, with any licence that the host recognises.
    """
    if not project.has("licence"):
        yield "no licence file"
