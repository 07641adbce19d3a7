"""Rule `project-rests-on-one-person`."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Final

from scoring import upkeep
from scoring.outcome import Partly, Severity, Undecided
from scoring.project_examples import met, project, sourced
from scoring.project_scope import Project
from scoring.rule import Answer, rule

_SMALL: Final = Decimal("0.4")
"""Projects below this size (`scoring.upkeep.scale`) are kept by one person as a rule."""


@rule(
    "project-rests-on-one-person",
    scope=Project,
    reads="repository",
    severity=Severity.SUGGESTION,
    title="Half of the work is one person's",
    since="2026.3",
    version=1,
    good=[
        project(bus_factor=2),
        project(bus_factor=1),
    ],
    bad=[
        project(bus_factor=1, stars=4000, contributors={"count": 20}, issues=met(opened_year=90)),
    ],
    unjudged=[
        project(),
        sourced(),
    ],
)
def project_rests_on_one_person(project: Project) -> Iterator[Answer]:
    """When the only person who knows a project stops, it stops.

    The larger a project, the more rests on it: a small one loses nothing, a large one by its size. Share reviews and
    the right to release.
    """
    if project.hosted.bus_factor is None:
        raise Undecided("who committed is not known")
    size = upkeep.scale(project.size)
    if project.hosted.bus_factor <= 1 and size >= _SMALL:
        yield Partly("one person made half of the commits", size)
