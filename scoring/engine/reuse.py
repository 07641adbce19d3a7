"""Finds what of an earlier scorecard of a dated rubric is still valid, so that only the other components are scored."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from datetime import datetime
from functools import lru_cache
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from evidence.kinds import drift, samples, source
from evidence.model import Dossier, Observed
from scoring.engine import catalogue
from scoring.engine.assess import ask_questions
from scoring.engine.assessment import Assessment, Question
from scoring.engine.evidence_kinds import kinds_of_question, kinds_of_questions, reads_date
from scoring.engine.rubric import Rubric
from scoring.engine.rule import discover_rules
from scoring.engine.walk import Pages
from scoring.results.scorecard import ComponentScore, DimensionScore, Scorecard

CONFINED: Final = frozenset({drift.KIND, samples.KIND})
"""Kinds that decide components and nothing else, such as a cap. They change in most nights of an unchanged server."""


class _Reading(Struct, frozen=True):
    """The kinds of evidence that questions of a rubric read: all but the confined ones, and those of questions that
    read a confined one. Of each dated question the kind whose things hold the date.
    """

    deciding: frozenset[str]
    dated: Mapping[Question, str]
    confined: Mapping[Question, frozenset[str]]


def find_stale_questions(
    rubric: Rubric, dossier: Dossier, changed: frozenset[str], since: datetime
) -> tuple[Question, ...] | None:
    """All questions of the components whose score may differ from that at the moment `since`.

    `changed` are the kinds of evidence that differ. Empty when the scorecard is the same but for its date; None when
    more than components may differ, so that the whole has to be scored.
    """
    reading = _find_reading(rubric.questions)
    if rubric.revise is None or changed & reading.deciding:
        return None
    stale = {question for question, kinds in reading.confined.items() if kinds & changed}
    stale |= _find_aged(reading, dossier, since, stale)
    if {question.rule for question in stale} & _list_gate_rules(rubric):
        return None
    return _complete(rubric, reading, stale) if stale else ()


class KeptParts(Struct, frozen=True):
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


def _find_aged(reading: _Reading, dossier: Dossier, since: datetime, stale: AbstractSet[Question]) -> set[Question]:
    """The questions, apart from stale ones, with another outcome only because time has passed.

    Without the evidence that holds the date the outcome is the same.
    """
    observed = {kind for kind, record in dossier.records.items() if isinstance(record.content, Observed)}
    dated = tuple(question for question, kind in reading.dated.items() if kind in observed and question not in stale)
    if not dated:
        return set()
    now, then = (ask_questions(each, dated).outcomes for each in (dossier, replace(dossier, as_of=since)))
    return {question for question in dated if now[question] != then[question]}


def _list_gate_rules(rubric: Rubric) -> frozenset[str]:
    caps = rubric.method.caps if rubric.method else ()
    return frozenset(rule for cap in caps for rule in cap.rules)


def _complete(rubric: Rubric, reading: _Reading, stale: set[Question]) -> tuple[Question, ...]:
    """The questions of all components that ask one of these, and of stability, in the order of the catalogue."""
    wanted = stale.union(question for question, kinds in reading.confined.items() if samples.KIND in kinds)
    found = (own for own in rubric.questions_of_components.values() if own & wanted)
    return catalogue.order_questions(frozenset[Question]().union(*found))


def _find_dated_kind(question: Question) -> str:
    return source.KIND if question.pages is Pages.SOURCE else discover_rules()[question.rule].reads


@lru_cache(maxsize=16)
def _find_reading(questions: tuple[Question, ...]) -> _Reading:
    kinds = {question: kinds_of_question(question) for question in questions}
    return _Reading(
        deciding=kinds_of_questions(questions) - CONFINED,
        dated={question: _find_dated_kind(question) for question in questions if reads_date(question)},
        confined={question: read for question, read in kinds.items() if read & CONFINED},
    )
