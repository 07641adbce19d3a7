"""Rule `readme-without-example`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.source_files import build_missing_readme, build_readme
from scoring.results.outcome import Severity
from scoring.scopes.source_files import Readme


@rule(
    "readme-without-example",
    scope=Readme,
    reads="source",
    severity=Severity.SUGGESTION,
    title="The README has no example",
    remedy="Add a section `## Examples` to the README with a question to the model and the answer that the tools make "
    "possible.",
    since="2026.3",
    version=1,
    fix=write_snippet(
        Language.MARKDOWN,
        "`README.md`",
        after="""
        ## Examples

        - "Which notes did I write today?" lists the titles of today's notes.
        - "Find my notes on SQLite" searches all notes for the word.
        """,
    ),
    good=[build_readme(), build_readme(examples=None, samples=2)],
    bad=[build_missing_readme(), build_readme(examples=None)],
    unjudged=[build_missing_readme(complete=False)],
)
def readme_without_example(readme: Readme) -> Iterator[str]:
    """An example shows in one line what a list of parameters does not.

    Show a question and its answer.
    """
    found = readme.found
    if found is None or not (found.examples or readme.seen.count("examples")):
        yield "no example"
