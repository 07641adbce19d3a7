"""`tool_design@3`: deleting a text or a schema never raises a score. Rules, levels and mean are those of version 2.

Deviations from version 2, each with its reason:

- A tool loses at most 60 points by its description, because one that is missing costs 60 and must not cost less.
- A tool loses at most 60 points by its input schema and parameters, because a missing schema costs 60.
- A schema that names no parameters and does not say that there are none counts as missing: `{}`, `{"type": "object"}`.
- A schema with a parameter without a type counts as missing, because what parameters are judged by is not there.
- A missing output schema costs 3, as much as one without type, description and described properties.
- LLM-012 and BP-006 are shown and cost nothing, because deleting one tool's text would raise its siblings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Final

from msgspec.structs import replace

from scoring.engine.assessment import Assessment
from scoring.engine.rubric import Criterion, Rubric
from scoring.results.outcome import Severity
from scoring.results.scorecard import Scorecard
from scoring.rubrics.tool_design import (
    LEVELS,
    LOWEST,
    TOOL_DESIGN_1,
    Correction,
    Found,
    judge_tool_design,
    tool_design_criterion,
)
from scoring.rubrics.tool_design_corrected import CRITERIA as CORRECTED
from scoring.scopes.base import Tool

MOST: Final = Decimal(60)
"""Points that a description, or a schema with its parameters, can cost at most; a missing one costs as much."""

DESCRIPTION: Final = "description"
SCHEMA: Final = "schema"
UNTYPED: Final = "param-type-missing"
NO_OUTPUT: Final = Decimal(3)
_SHOWN_ONLY: Final = frozenset({"LLM-012", "BP-006"})

_OF_DESCRIPTION: Final = frozenset(
    {"SCH-002", "LLM-001", "LLM-002", "LLM-003", "LLM-004", "LLM-005", "LLM-011", "LLM-012", "LLM-013"}
)
_OF_NAME_AND_HINTS: Final = frozenset(
    {"SCH-001", "NAM-001", "NAM-002", "NAM-003", "NAM-004", "NAM-005", "BP-001", "BP-002", "BP-003", "BP-004", "BP-009"}
)
"""Ids that neither the description nor the input schema decides; every other id is of the schema."""


def _reprice(part: Criterion) -> Criterion:
    if part.cites in _SHOWN_ONLY:
        return replace(part, points=Decimal(0))
    return replace(part, points=NO_OUTPUT) if part.rule == "tool-output-schema-missing" else part


CRITERIA: Final = (
    *map(_reprice, CORRECTED),
    tool_design_criterion("SCH-003", UNTYPED, Severity.ERROR, {"constants": True}, charged=False),
)


def _part(cites: str) -> str:
    if cites in _OF_DESCRIPTION:
        return DESCRIPTION
    return "" if cites in _OF_NAME_AND_HINTS else SCHEMA


_PARTS: Final = {criterion.cites: _part(criterion.cites) for criterion in CRITERIA}


def _correct(tool: Tool, found: Sequence[Found]) -> tuple[Correction, ...]:
    untyped, costs = False, dict.fromkeys((DESCRIPTION, SCHEMA, ""), Decimal(0))
    for criterion, _ in found:
        untyped = untyped or criterion.rule == UNTYPED
        costs[_PARTS[criterion.cites]] += criterion.points
    described = _limit(DESCRIPTION, costs[DESCRIPTION], missing=not tool.description)
    return (*described, *_limit(SCHEMA, costs[SCHEMA], missing=untyped or _is_schema_missing(tool)))


def _limit(name: str, cost: Decimal, *, missing: bool) -> Iterator[Correction]:
    """What lifts or lowers the cost of one part to the most that it can cost, if anything."""
    if missing and cost != MOST:
        yield Correction(cites=name, points=cost - MOST, why=f"A missing {name}, also in part, costs {MOST} in all")
    elif cost > MOST:
        yield Correction(cites=name, points=cost - MOST, why=f"A {name} costs at most {MOST} points")


def _is_schema_missing(tool: Tool) -> bool:
    """Whether the input schema leaves open what the parameters are; an empty `properties` says that there are none."""
    return None in tool.properties.values() or tool.leaves_parameters_open


def _score(assessment: Assessment) -> Scorecard:
    return judge_tool_design(assessment, TOOL_DESIGN_3, correct=_correct)


TOOL_DESIGN_3: Final = Rubric(
    id="tool_design",
    version=3,
    source_version=TOOL_DESIGN_1.source_version,
    title=TOOL_DESIGN_1.title,
    summary="Each tool: 100 points less 5 an error, 2 a warning and 1 a suggestion; a missing text or schema costs 60.",
    source=TOOL_DESIGN_1.source,
    criteria=CRITERIA,
    settled=tuple(line[2:] for line in (__doc__ or "").splitlines() if line.startswith("- ")),
    judge=_score,
    bands=(*LEVELS, (Decimal(0), LOWEST)),
)
