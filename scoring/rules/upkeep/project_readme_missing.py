"""Rule `project-readme-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.project import build_project, build_source_only_project
from scoring.results.outcome import Severity
from scoring.scopes.project import Project


@rule(
    "project-readme-missing",
    scope=Project,
    reads="repository",
    severity=Severity.ERROR,
    title="The repository has no README",
    remedy="Add a file `README.md` to the root of the repository. "
    "Describe what the server does, how to install it, and what it needs.",
    since="2026.3",
    version=1,
    good=[build_project(readme=True), build_source_only_project(readme={"path": "README.md"})],
    bad=[build_project(readme=False), build_source_only_project()],
    unjudged=[build_project(), build_source_only_project(origin="npm"), build_source_only_project(complete=False)],
)
def project_readme_missing(project: Project) -> Iterator[str]:
    """The README is the first page that a user reads, and often the only one.

    This rule reads the data of the host, for a repository whose source was not read. State what the server does, how it
    is installed, and what it needs.
    """
    if not project.has("readme"):
        yield "no README"
