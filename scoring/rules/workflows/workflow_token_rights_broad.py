"""Rule `workflow-token-rights-broad`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.source_files import build_workflow
from scoring.results.outcome import Severity
from scoring.scopes.source_files import Workflow
from scoring.text.evidence_path import clip_text


@rule(
    "workflow-token-rights-broad",
    scope=Workflow,
    reads="source",
    severity=Severity.SUGGESTION,
    title="A workflow does not limit the rights of its token",
    remedy="Set `permissions: {contents: read}` at the top of the workflow, and give a right to write only to the job "
    "that needs it.",
    since="2026.1",
    version=1,
    spec="https://github.com/ossf/scorecard/blob/main/docs/checks.md#token-permissions",
    fix=write_snippet(
        Language.YAML,
        "A workflow in `.github/workflows`",
        before="""
        on: push
        jobs:
          test:
            runs-on: ubuntu-latest
            steps:
              - run: npm test
        """,
        after="""
        on: push
        permissions: {contents: read}
        jobs:
          test:
            runs-on: ubuntu-latest
            steps:
              - run: npm test
        """,
    ),
    good=[build_workflow()],
    bad=[
        build_workflow(rights="default"),
        build_workflow(rights="write-all"),
        build_workflow(writes=["contents", "packages"]),
    ],
    unjudged=[build_workflow(why="not a workflow that can be read")],
)
def workflow_token_rights_broad(workflow: Workflow) -> Iterator[str]:
    """An action or a dependency that is taken over can write to the repository with the token of its workflow.

    Without `permissions` the settings of the repository decide, which are not public. Rights to write belong
    to single jobs. As in Scorecard's check Token-Permissions. A broad right is no attack, so it moves no score.
    """
    workflow.require_read()
    if workflow.found.rights == "write-all":
        yield "the token may write everything"
    elif workflow.found.rights == "default":
        yield "the rights of the token are not limited"
    elif workflow.found.writes:
        yield f"the token of every job may write {clip_text(', '.join(workflow.found.writes))}"
