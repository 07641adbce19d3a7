"""Rule `readme-missing`."""

from __future__ import annotations

from collections.abc import Iterator

from scoring.engine.rule import rule
from scoring.example_builders.source_files import build_missing_readme, build_readme
from scoring.results.outcome import Severity
from scoring.scopes.source_files import Readme


@rule(
    "readme-missing",
    scope=Readme,
    reads="source",
    severity=Severity.ERROR,
    title="The source has no README",
    remedy="Add `README.md` to the root folder of the server's source. State what the server does, how to install it "
    "and what it needs.",
    since="2026.3",
    version=1,
    good=[build_readme()],
    bad=[build_missing_readme()],
    unjudged=[build_missing_readme(complete=False)],
)
def readme_missing(readme: Readme) -> Iterator[str]:
    """The README is the first page that a user reads, and often the only one.

    State what the server does, how it is installed, and what it needs.
    """
    if readme.found is None:
        yield "no README in the source"
