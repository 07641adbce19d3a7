"""Rule `project-contributing-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.project import build_project, build_source_only_project
from scoring.results.outcome import Severity
from scoring.scopes.project import Project


@rule(
    "project-contributing-missing",
    scope=Project,
    reads="repository",
    severity=Severity.SUGGESTION,
    title="The project has no guide for contributors",
    remedy="Add a file `CONTRIBUTING.md` to the root of the repository, with the steps to build, test and submit a "
    "change.",
    since="2026.3",
    version=1,
    fix=write_snippet(
        Language.MARKDOWN,
        "`CONTRIBUTING.md`",
        after="""
        # Contributing

        1. `npm ci` installs the dependencies.
        2. `npm test` runs the tests.
        3. Open a pull request with a test for your change.
        """,
    ),
    good=[build_project(community={"contributing": True}), build_source_only_project(contributing="CONTRIBUTING.md")],
    bad=[build_project(community={"contributing": False}), build_source_only_project()],
    unjudged=[build_project(), build_source_only_project(origin="npm"), build_source_only_project(complete=False)],
)
def project_contributing_missing(project: Project) -> Iterator[str]:
    """Contributors need to know how to build, test and submit a change.

    A CONTRIBUTING.md with the three commands is enough.
    """
    if not project.has("contributing"):
        yield "no guide for contributors"
