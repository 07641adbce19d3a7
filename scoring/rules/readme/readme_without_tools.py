"""Rule `readme-without-tools`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.source_files import build_missing_readme, build_readme
from scoring.results.outcome import Severity
from scoring.scopes.source_files import Readme


@rule(
    "readme-without-tools",
    scope=Readme,
    reads="source",
    severity=Severity.SUGGESTION,
    title="The README does not list the tools",
    remedy="Add a section `## Tools` to the README with one line for each tool: its name and what it does.",
    since="2026.3",
    version=1,
    fix=write_snippet(
        Language.MARKDOWN,
        "`README.md`",
        after="""
        ## Tools

        - `list-notes`: lists the notes of one day.
        - `search-notes`: searches all notes for words.
        """,
    ),
    good=[build_readme()],
    bad=[build_missing_readme(), build_readme(tools=None)],
    unjudged=[build_missing_readme(complete=False)],
)
def readme_without_tools(readme: Readme) -> Iterator[str]:
    """Before the installation a user needs to know what the model will be able to do and to change.

    List the tools, one line for each.
    """
    found = readme.found
    if found is None or not found.tools:
        yield "no section about tools"
