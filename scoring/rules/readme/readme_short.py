"""Rule `readme-short`."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from scoring.engine.rule import Answer, rule
from scoring.example_builders.source_files import build_missing_readme, build_readme
from scoring.results.outcome import PartialFailure, Severity
from scoring.scopes.source_files import Readme

_WORDS: Final = 80
_HALF: Final = Decimal("0.5")


@rule(
    "readme-short",
    scope=Readme,
    reads="source",
    severity=Severity.WARNING,
    title="The README is very short",
    remedy="Extend the README to at least 80 words. State what the server does, for whom, what it needs and what it "
    "may change.",
    since="2026.3",
    version=1,
    good=[build_readme(), build_missing_readme()],
    bad=[build_readme(words=12)],
    unjudged=[build_missing_readme(complete=False)],
)
def readme_short(readme: Readme) -> Iterator[Answer]:
    """A README of a few words does not show users whether the server is suitable for them.

    State what it does, for whom, what it needs and what it may change.
    """
    found = readme.found
    if found is not None and found.words < _WORDS:
        yield PartialFailure(f"{found.words} words, at least {_WORDS} expected", _HALF)
