"""Rule `readme-without-installation`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.source_files import build_missing_readme, build_readme
from scoring.results.outcome import Severity
from scoring.scopes.source_files import Readme


@rule(
    "readme-without-installation",
    scope=Readme,
    reads="source",
    severity=Severity.WARNING,
    title="The installation is not documented",
    remedy="Add a section `## Installation` to the README with the command or the client configuration that installs "
    "and starts the server.",
    since="2026.3",
    version=1,
    fix=write_snippet(
        Language.MARKDOWN,
        "`README.md`",
        after="""
        ## Installation

        ```sh
        npm install --global notes-mcp
        ```
        """,
    ),
    good=[
        build_readme(),
        build_readme(install=None),
        build_readme(install=None, snippet=None, guides=["docs/setup.md"]),
    ],
    bad=[build_missing_readme(), build_readme(install=None, snippet=None)],
    unjudged=[build_missing_readme(complete=False)],
)
def readme_without_installation(readme: Readme) -> Iterator[str]:
    """Without an installation command users cannot install the server.

    Give the one command, or the configuration, that installs and starts it.
    """
    found = readme.found
    if found is None or not (found.install or found.snippet or readme.seen.paths("guides")):
        yield "no section or command for installation"
