"""The run that a rescored run was made from, in its stored options."""

from __future__ import annotations

from collections.abc import Sequence

from evidence.canonical import Json
from evidence.store import RunRow
from evidence.store.values import RUBRICS
from scoring.engine.rubric import Rubric

_OF = "rescore_of"


def build_rescore_options(row: RunRow, rubrics: Sequence[Rubric]) -> dict[str, Json]:
    """The options of a run that scores another run again, with some rubrics or, with none given, all."""
    return {_OF: find_origin_run(row), RUBRICS: [rubric.name for rubric in rubrics]}


def find_origin_run(row: RunRow) -> str:
    """The id of the run that collected the evidence."""
    first = row.options.get(_OF)
    return first if isinstance(first, str) else row.run.id


def is_rescored(row: RunRow) -> bool:
    """True for a run that scored the evidence of another run."""
    return _OF in row.options
