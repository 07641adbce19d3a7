"""Rule `project-ci-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.project import build_project, build_source_only_project
from scoring.results.outcome import Severity
from scoring.scopes.project import Project


@rule(
    "project-ci-missing",
    scope=Project,
    reads="repository",
    severity=Severity.SUGGESTION,
    title="The project has no continuous integration",
    remedy="Add a workflow to the repository that runs the tests on each push and pull request, e.g. "
    "`.github/workflows/test.yml`.",
    since="2026.3",
    version=1,
    fix=write_snippet(
        Language.YAML,
        "`.github/workflows/test.yml`",
        after="""
        on: [push, pull_request]
        jobs:
          test:
            runs-on: ubuntu-latest
            steps:
              - uses: actions/checkout@v4
              - uses: actions/setup-node@v4
              - run: npm ci
              - run: npm test
        """,
    ),
    good=[build_project(ci=True), build_source_only_project(ci=[".github/workflows/test.yml"])],
    bad=[build_project(ci=False), build_source_only_project()],
    unjudged=[build_project(), build_source_only_project(origin="npm"), build_source_only_project(complete=False)],
)
def project_ci_missing(project: Project) -> Iterator[str]:
    """An untested change may break working functions, so run the tests on every change.

    Use the automation of the host.
    """
    if not project.has("ci"):
        yield "no continuous integration workflow"
