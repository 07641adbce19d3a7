"""Rule `variable-unexplained`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.source_files import build_variable
from scoring.results.outcome import Severity
from scoring.scopes.source_files import Variable
from scoring.text.evidence_path import clip_text


@rule(
    "variable-unexplained",
    scope=Variable,
    reads="source",
    severity=Severity.WARNING,
    title="A required variable is not documented",
    remedy="Name the variable in the README, or in `environmentVariables` of the package in `server.json`. State "
    "where its value comes from.",
    since="2026.3",
    version=1,
    fix=write_snippet(
        Language.MARKDOWN,
        "`README.md`",
        after="""
        ## Configuration

        | variable | meaning |
        |---|---|
        | `NOTES_TOKEN` | Token of your account, from Settings, Access tokens |
        """,
    ),
    good=[
        build_variable("NOTES_API_KEY"),
        build_variable("NOTES_TOKEN", named=True),
        build_variable("NOTES_TOKEN", declared=frozenset({"NOTES_TOKEN"})),
    ],
    bad=[build_variable("NOTES_TOKEN"), build_variable("NOTES_API", environment="NOTES_API_KEY: key")],
    unjudged=[build_variable("NOTES_TOKEN", named=None), build_variable("NOTES_TOKEN", guides=["docs/setup.md"])],
)
def variable_unexplained(variable: Variable) -> Iterator[str]:
    """A server that stops because of a missing variable forces its user to read the code.

    Document every variable that holds a secret or has to be set, in the README or in the registration, and state where
    its value comes from.
    """
    if not variable.is_documented:
        found = variable.variable
        yield f"{clip_text(found.name)}, read at {clip_text(found.at)}, is not in the README or the registration"
