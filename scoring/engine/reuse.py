"""Finds what of an earlier scorecard of a dated rubric is still valid, so that only the other components are scored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from typing import Final

from evidence.kinds import drift, samples
from evidence.model import Dossier, Observed
from scoring.engine import catalogue
from scoring.engine.assess import ask_questions
from scoring.engine.assessment import Assessment, Question
from scoring.engine.evidence_kinds import kinds_of_question, kinds_of_rubric, reads_date
from scoring.engine.rubric import Rubric
from scoring.results.scorecard import ComponentScore, DimensionScore, Scorecard

CONFINED: Final = frozenset({drift.KIND, samples.KIND})
"""Kinds that decide components and nothing else, such as a cap. They change in most nights of an unchanged server."""


def find_stale_questions(
    rubric: Rubric, dossier: Dossier, changed: frozenset[str], since: datetime
) -> tuple[Question, ...] | None:
    """All questions of the components whose score may differ from that at the moment `since`.

    `changed` are the kinds of evidence that differ. Empty when the scorecard is the same but for its date; None when
    more than components may differ, so that the whole has to be scored.
    """
    if rubric.revise is None or (changed & kinds_of_rubric(rubric)) - CONFINED:
        return None
    confined = _list_confined(rubric.questions)
    stale = _find_aged(rubric, dossier, since)
    stale |= {question for question in confined if kinds_of_question(question) & changed}
    if {question.rule for question in stale} & _list_gate_rules(rubric):
        return None
    return _complete(rubric, stale) if stale else ()


@dataclass(frozen=True, slots=True)
class KeptParts:
    """The dimensions of an earlier scorecard that stay as they are, and components of the others that stay.

    `components` are by `dimension.component`.
    """

    dimensions: Mapping[str, DimensionScore] = field(default_factory=dict)
    components: Mapping[str, ComponentScore] = field(default_factory=dict)


NOTHING_KEPT: Final = KeptParts()


def find_kept_parts(earlier: Scorecard, rubric: Rubric, asked: Assessment) -> KeptParts:
    """The parts of an earlier scorecard of which not all questions were asked again."""
    again = {place for place, own in rubric.questions_of_components.items() if own <= asked.outcomes.keys()}
    dimensions: dict[str, DimensionScore] = {}
    components: dict[str, ComponentScore] = {}
    for part in earlier.dimensions:
        places = {f"{part.name}.{one.name}": one for one in part.components}
        if again.isdisjoint(places):
            dimensions[part.name] = part
        else:
            components |= {place: one for place, one in places.items() if place not in again}
    return KeptParts(dimensions, components)


def _find_aged(rubric: Rubric, dossier: Dossier, since: datetime) -> set[Question]:
    """The questions with another outcome only because time has passed: without evidence it is the same."""
    dated = tuple(one for one in _list_dated(rubric.questions) if _has_evidence(dossier, one))
    if not dated:
        return set()
    now, then = (ask_questions(each, dated).outcomes for each in (dossier, replace(dossier, as_of=since)))
    return {question for question in dated if now[question] != then[question]}


def _has_evidence(dossier: Dossier, question: Question) -> bool:
    return any(isinstance(dossier.read(kind), Observed) for kind in kinds_of_question(question))


def _list_gate_rules(rubric: Rubric) -> frozenset[str]:
    caps = rubric.method.caps if rubric.method else ()
    return frozenset(rule for cap in caps for rule in cap.rules)


def _complete(rubric: Rubric, stale: set[Question]) -> tuple[Question, ...]:
    """The questions of all components that ask one of these, and of stability, in the order of the catalogue."""
    wanted = stale.union(one for one in _list_confined(rubric.questions) if samples.KIND in kinds_of_question(one))
    found = (own for own in rubric.questions_of_components.values() if own & wanted)
    return catalogue.order_questions(frozenset[Question]().union(*found))


@lru_cache(maxsize=16)
def _list_dated(questions: tuple[Question, ...]) -> tuple[Question, ...]:
    return tuple(question for question in questions if reads_date(question))


@lru_cache(maxsize=16)
def _list_confined(questions: tuple[Question, ...]) -> tuple[Question, ...]:
    return tuple(question for question in questions if kinds_of_question(question) & CONFINED)
