"""Rule `readme-without-client-configuration`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.source_files import build_missing_readme, build_readme
from scoring.results.outcome import Severity
from scoring.scopes.source_files import Readme


@rule(
    "readme-without-client-configuration",
    scope=Readme,
    reads="source",
    severity=Severity.WARNING,
    title="The README has no client configuration",
    remedy="Add a fenced code block to the README with the JSON below `mcpServers`, or with a command such as `claude "
    "mcp add`.",
    since="2026.3",
    version=1,
    fix=write_snippet(
        Language.MARKDOWN,
        "`README.md`",
        after="""
        ## Configuration

        ```json
        {
          "mcpServers": {
            "notes": {"command": "npx", "args": ["-y", "notes-mcp"]}
          }
        }
        ```
        """,
    ),
    good=[build_readme()],
    bad=[build_missing_readme(), build_readme(snippet=None)],
    unjudged=[build_missing_readme(complete=False)],
)
def readme_without_client_configuration(readme: Readme) -> Iterator[str]:
    """Users copy a configuration into their client, and many give up when they have to write it.

    Show the JSON below `mcpServers`, or the command that adds the server.
    """
    found = readme.found
    if found is None or not found.snippet:
        yield "no client configuration"
