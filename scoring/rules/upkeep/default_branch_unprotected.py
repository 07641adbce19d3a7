"""Rule `default-branch-unprotected`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.project import build_project, build_source_only_project
from scoring.results.outcome import Severity, Undecided
from scoring.scopes.project import Project


@rule(
    "default-branch-unprotected",
    scope=Project,
    reads="repository",
    severity=Severity.SUGGESTION,
    title="No rule protects the default branch",
    remedy="Add a ruleset for the default branch in the settings of the repository: no force pushes, no deletion, and "
    "a pull request before merging.",
    since="2026.1",
    version=1,
    spec="https://github.com/ossf/scorecard/blob/main/docs/checks.md#branch-protection",
    good=[build_project(protected=True)],
    bad=[build_project(protected=False)],
    unjudged=[build_project(), build_source_only_project()],
)
def default_branch_unprotected(project: Project) -> Iterator[str]:
    """With one stolen token anybody can rewrite what the next release is built from, and no second person sees it.

    A branch protection or a ruleset counts, as far as GitHub shows them to everybody. As in Scorecard's check
    Branch-Protection. Without rights to read them it is not measured. It moves no score.
    """
    if project.hosted.protected is None:
        raise Undecided("the rules of the branch cannot be read")
    if not project.hosted.protected:
        yield f"no rule protects the branch {project.hosted.default_branch or 'by default'}"
