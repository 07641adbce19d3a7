"""Rule `workflow-action-unpinned`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import Answer, rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.source_files import build_workflow
from scoring.results.outcome import Severity
from scoring.scopes.source_files import Workflow
from scoring.text.evidence_path import clip_text


@rule(
    "workflow-action-unpinned",
    scope=Workflow,
    reads="source",
    severity=Severity.SUGGESTION,
    title="A workflow uses an action that is not pinned to a commit",
    remedy="Pin each action to the full hash of a commit, with the version in a comment, and let Dependabot or "
    "Renovate raise it.",
    since="2026.1",
    version=1,
    spec="https://github.com/ossf/scorecard/blob/main/docs/checks.md#pinned-dependencies",
    fix=write_snippet(
        Language.YAML,
        "A workflow in `.github/workflows`",
        before="""
        steps:
          - uses: octo/setup-notes@v2
        """,
        after="""
        steps:
          - uses: octo/setup-notes@0123456789abcdef0123456789abcdef01234567 # v2.1.0
        """,
    ),
    good=[build_workflow(), build_workflow(uses=0)],
    bad=[build_workflow(unpinned=["7 octo/setup-notes@v2"])],
    unjudged=[build_workflow(why="not a workflow that can be read")],
)
def workflow_action_unpinned(workflow: Workflow) -> Iterator[Answer]:
    """The owner of an action can move a tag or a branch to other code, which then runs with the token and the secrets.

    Actions, reusable workflows and images need a commit or a digest; what the repository itself has does not. As in
    Scorecard's check Pinned-Dependencies. Nearly every project has a finding, so it moves no score.
    """
    workflow.require_read()
    for use in workflow.found.unpinned:
        line, _, action = use.partition(" ")
        yield line, f"{clip_text(action)} is not pinned to a commit"
