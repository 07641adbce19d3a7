"""Rule `repository-moved`."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from scoring.engine.rule import Answer, rule
from scoring.engine.snippet import Language, write_snippet
from scoring.example_builders.project import build_project, build_source_only_project
from scoring.results.outcome import PartialFailure, Severity
from scoring.scopes.project import Project
from scoring.text.evidence_path import clip_text

_HALF: Final = Decimal("0.5")


@rule(
    "repository-moved",
    scope=Project,
    reads="repository",
    severity=Severity.SUGGESTION,
    title="The registration names a repository by an old name",
    remedy="Set `repository.url` in server.json to the current URL of the repository, and publish the registration "
    "again with a new `version`.",
    since="2026.3",
    version=1,
    fix=write_snippet(
        Language.JSON,
        "`server.json`",
        before="""
        {
          "name": "io.github.octo/notes",
          "description": "Reads and searches the notes of a user.",
          "version": "1.0.0",
          "repository": {"url": "https://github.com/old/notes", "source": "github"}
        }
        """,
        after="""
        {
          "name": "io.github.octo/notes",
          "description": "Reads and searches the notes of a user.",
          "version": "1.0.1",
          "repository": {"url": "https://github.com/octo/notes", "source": "github"}
        }
        """,
    ),
    good=[build_project()],
    bad=[build_project(asked="somebody/notes")],
    unjudged=[build_source_only_project()],
)
def repository_moved(project: Project) -> Iterator[Answer]:
    """An old name redirects only until another account takes it; then it leads to the code of that account.

    Register the name that the repository has now.
    """
    if project.hosted.asked and project.hosted.asked.lower() != project.hosted.name.lower():
        yield PartialFailure(
            f"{clip_text(project.hosted.asked)} was renamed to {clip_text(project.hosted.name)}", _HALF
        )
