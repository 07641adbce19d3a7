"""Rule `project-changelog-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.project import build_project, build_source_only_project
from scoring.results.outcome import Severity
from scoring.scopes.project import Project


@rule(
    "project-changelog-missing",
    scope=Project,
    reads="repository",
    severity=Severity.SUGGESTION,
    title="The project has no changelog",
    remedy="Add a file `CHANGELOG.md` to the root of the repository, with a section for each released version.",
    since="2026.3",
    version=1,
    fix=write_snippet(
        Language.MARKDOWN,
        "`CHANGELOG.md`",
        after="""
        # Changelog

        ## 1.1.0 (2026-07-28)

        - Add the tool `search-notes`.
        - Fix the order of `list-notes`.
        """,
    ),
    good=[build_project(changelog=True), build_source_only_project(changelog="CHANGELOG.md")],
    bad=[build_project(changelog=False), build_source_only_project()],
    unjudged=[build_project(), build_source_only_project(origin="npm"), build_source_only_project(complete=False)],
)
def project_changelog_missing(project: Project) -> Iterator[str]:
    """Users need to know what changes before they upgrade.

    Keep a CHANGELOG.md with a section for each version.
    """
    if not project.has("changelog"):
        yield "no changelog"
