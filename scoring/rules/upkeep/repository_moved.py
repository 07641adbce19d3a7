"""Rule `repository-moved`."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from scoring.outcome import Partly, Severity
from scoring.path import clip
from scoring.project_examples import project, sourced
from scoring.project_scope import Project
from scoring.rule import Answer, rule

_HALF: Final = Decimal("0.5")


@rule(
    "repository-moved",
    scope=Project,
    reads="repository",
    severity=Severity.SUGGESTION,
    title="The registration names a repository by an old name",
    since="2026.3",
    version=1,
    good=[
        project(),
    ],
    bad=[
        project(asked="somebody/notes"),
    ],
    unjudged=[
        sourced(),
    ],
)
def repository_moved(project: Project) -> Iterator[Answer]:
    """An old name leads on only until somebody else takes it, and then to code of theirs.

    Register the name that the repository has now.
    """
    if project.hosted.asked and project.hosted.asked.lower() != project.hosted.name.lower():
        yield Partly(f"{clip(project.hosted.asked)} is called {clip(project.hosted.name)} now", _HALF)
