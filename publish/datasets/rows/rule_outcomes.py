"""The outcomes of single rules for a server, as rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from evidence.canonical import canonical_json
from evidence.model import Absent, Dossier, Reason, ServerId
from publish.datasets.format.columns import Row
from publish.datasets.format.tables import RUN
from publish.disclosure import private_rule_ids
from scoring.engine import catalogue
from scoring.engine.assess import ask_questions
from scoring.engine.assessment import Assessment, Question
from scoring.engine.rule import discover_rules
from scoring.engine.walk import Pages
from scoring.results.outcome import NotMeasured, Outcome


def assess_publicly(dossier: Dossier) -> Assessment:
    """The outcomes of the public questions only, which are all that rows of outcomes need."""
    return ask_questions(dossier, _list_questions())


def make_outcome_rows(server: ServerId, run: str, assessment: Assessment) -> Iterator[Row]:
    """The outcomes for one server in a run. A rule has no row if the evidence that it reads is absent.

    A question over other pages than all has a row only if its outcome differs.
    """
    absent = {kind for kind in _kinds() if isinstance(assessment.dossier.read(kind), Absent)}
    for question, reads, params in list_public_questions():
        outcome = assessment.outcomes[question]
        if _is_shown(question, outcome, reads in absent, assessment):
            key = {"server": server, RUN: run, "rule": question.rule, "params": params, "pages": question.pages.value}
            yield {**key, **_answer(outcome)}


@cache
def list_public_questions() -> tuple[tuple[Question, str, str], ...]:
    """The public questions, each with the kind that its rule reads and its parameters as JSON."""
    return tuple(
        (question, discover_rules()[question.rule].reads, canonical_json(dict(question.params)).decode())
        for question in sorted(catalogue.list_questions(), key=lambda one: (one.rule, one.params, one.pages))
        if question.rule not in private_rule_ids()
    )


@cache
def _list_questions() -> tuple[Question, ...]:
    return tuple(question for question, _, _ in list_public_questions())


@cache
def _kinds() -> frozenset[str]:
    return frozenset(reads for _, reads, _ in list_public_questions())


def _is_shown(question: Question, outcome: Outcome, is_absent: bool, assessment: Assessment) -> bool:
    if question.pages is Pages.ALL:
        return not is_absent
    if question.pages is Pages.SOURCE:
        return not isinstance(outcome, NotMeasured) or outcome.reason not in _SILENT
    return not is_absent and outcome != assessment.outcomes.get(question.over_all_pages)


def _answer(outcome: Outcome) -> Mapping[str, Any]:
    if isinstance(outcome, NotMeasured):
        counts = dict.fromkeys(("checked", "findings", "tolerated", "skipped"))
        return {"state": "not_measured", "not_measured": outcome.reason, "detail": outcome.detail, **counts}
    tolerated = sum(finding.tolerated for finding in outcome.findings)
    return {
        "state": "measured",
        "not_measured": None,
        "detail": None,
        "checked": outcome.checked,
        "findings": len(outcome.findings) - tolerated,
        "tolerated": tolerated,
        "skipped": len(outcome.skipped),
    }


_SILENT = frozenset({"not_needed", "nothing_to_check", *(reason.value for reason in Reason)})
"""Reasons for which the source was not checked as a fallback; table `evidence` has the reason for the source."""
