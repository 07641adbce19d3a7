"""Rule `project-rests-on-one-person`."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from scoring.engine.rule import Answer, rule
from scoring.example_builders.project import build_project, build_source_only_project, issue_threads
from scoring.results.outcome import PartialFailure, Severity, Undecided
from scoring.scopes import maintenance
from scoring.scopes.project import Project

_SMALL: Final = Decimal("0.4")
"""Projects below this size (`scoring.scopes.maintenance.compute_scale`) are kept by one person as a rule."""


@rule(
    "project-rests-on-one-person",
    scope=Project,
    reads="repository",
    severity=Severity.SUGGESTION,
    title="One person made half of the commits",
    remedy="Share the work, so that one person makes less than half of the commits. "
    "Give at least one other person the rights to review, merge and release.",
    since="2026.3",
    version=1,
    good=[build_project(bus_factor=2), build_project(bus_factor=1)],
    bad=[build_project(bus_factor=1, stars=4000, contributors={"count": 20}, issues=issue_threads(opened_year=90))],
    unjudged=[build_project(), build_source_only_project()],
)
def project_rests_on_one_person(project: Project) -> Iterator[Answer]:
    """A project stops when the only person who knows it stops, so share reviews and the right to release.

    The cost grows with the size of the project; a small one loses nothing.
    """
    if project.hosted.bus_factor is None:
        raise Undecided("the authors of the commits are not known")
    size = maintenance.compute_scale(project.size)
    if project.hosted.bus_factor <= 1 and size >= _SMALL:
        yield PartialFailure("one person made half of the commits", size)
