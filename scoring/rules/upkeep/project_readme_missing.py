"""Rule `project-readme-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.outcome import Severity
from scoring.project_examples import project, sourced
from scoring.project_scope import Project
from scoring.rule import rule


@rule(
    "project-readme-missing",
    scope=Project,
    reads="repository",
    severity=Severity.ERROR,
    title="The repository has no README",
    since="2026.3",
    version=1,
    good=[project(readme=True), sourced(readme={"path": "README.md"})],
    bad=[project(readme=False), sourced()],
    unjudged=[project(), sourced(origin="npm"), sourced(complete=False)],
)
def project_readme_missing(project: Project) -> Iterator[str]:
    """The README is the first thing that anybody sees, and often the last.

    This asks the host of a repository of which nothing was read. Say what the server does, how it is installed, and
    what it needs.
    """
    if not project.has("readme"):
        yield "no README"
