"""Run the rules over a dossier: each distinct question once, absent evidence as NotMeasured."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Final

from evidence.kinds import listing, source
from evidence.kinds.exchanges import Exchange
from evidence.model import Absent, Dossier, Observed
from scoring.engine import catalogue, revision, rule
from scoring.engine.assessment import Assessment, Question
from scoring.engine.rubric import Rubric
from scoring.engine.rule import Answer, Rule
from scoring.engine.walk import Pages, Walk
from scoring.results.outcome import (
    WHOLE_SHARE,
    Finding,
    Inapplicable,
    Measured,
    NotMeasured,
    Outcome,
    PartialFailure,
    Skipped,
    Tolerated,
    Undecided,
)
from scoring.scopes.base import Scope
from scoring.scopes.conversation import Conversation
from scoring.scopes.server_access import Access
from scoring.text import evidence_path

_NOT_NEEDED: Final = NotMeasured("not_needed", "the evidence that the source would replace is present")

_LIMITED_TO_REVISIONS: Final = frozenset({Access, Conversation})
"""Scopes of which a rule judges only the exchanges under the protocol revisions of its checks."""


def assess_dossier(dossier: Dossier, rubrics: Iterable[Rubric] | None = None) -> Assessment:
    """Ask every question that the rubrics (by default all of the catalogue) cite.

    An exception of a rule stops the whole assessment and gets a note with the rule and the server: a partial score
    must never be published.
    """
    questions = catalogue.list_questions() if rubrics is None else catalogue.list_cited_questions(rubrics)
    return ask_questions(dossier, questions)


def ask_questions(dossier: Dossier, questions: Sequence[Question]) -> Assessment:
    """Ask some questions, those over all pages first, as the catalogue lists them."""
    walks = _build_walks(dossier, {question.pages for question in questions})
    known = rule.discover_rules()
    outcomes: dict[Question, Outcome] = {}

    @cache
    def read_evidence(kind: str) -> Observed | NotMeasured:
        content = dossier.read(kind)
        return NotMeasured(content.reason.value, content.detail) if isinstance(content, Absent) else content

    def answer_question(question: Question) -> Outcome:
        walk, declared = walks[question.pages], known[question.rule]
        content = read_evidence(declared.reads)
        if question.pages is Pages.SOURCE:
            content = _select_source(declared, walk, content, read_evidence(source.KIND))
        return content if isinstance(content, NotMeasured) else _ask(declared, question, walk, content)

    for question in questions:
        is_shared = question.pages is not Pages.ALL and walks[question.pages] is walks[Pages.ALL]
        outcome = outcomes.get(question.over_all_pages) if is_shared else None
        try:
            outcomes[question] = outcome or answer_question(question)
        except Exception as error:
            error.add_note(
                f"raised by rule {question.rule} while assessing server {dossier.server.id}; no score was made"
            )
            raise
    return Assessment(dossier=dossier, outcomes=outcomes, walks=walks, versions=dict(catalogue.pinned_versions()))


def ask_rule(declared: Rule, thing: Scope, evidence: str = "", **params: rule.ParamValue) -> tuple[Finding, ...]:
    """The findings of one rule about one thing; raise Inapplicable or Undecided as the rule does."""
    return tuple(_finding(declared, thing, answer, evidence) for answer in declared(thing, **params))


def _build_walks(dossier: Dossier, asked: Container[Pages] = frozenset(Pages)) -> dict[Pages, Walk]:
    """A walk for each part; a part that no question is about is not told from the whole, which reads the listing."""
    whole = Walk(dossier)
    return {
        Pages.ALL: whole,
        Pages.FIRST: Walk(dossier, Pages.FIRST) if Pages.FIRST in asked and whole.paginated else whole,
        Pages.SENT: Walk(dossier, Pages.SENT) if Pages.SENT in asked and whole.undeclared else whole,
        Pages.SOURCE: Walk(dossier, Pages.SOURCE),
    }


def _select_source(
    declared: Rule, walk: Walk, content: Observed | NotMeasured, files: Observed | NotMeasured
) -> Observed | NotMeasured:
    """The source in place of missing evidence; a source without readable tools cannot replace the listing."""
    if isinstance(content, Observed):
        return _NOT_NEEDED
    if isinstance(files, Observed) and declared.reads == listing.KIND and not walk.tools:
        return NotMeasured("nothing_to_check", "no tool could be read in the source")
    return files


def _ask(declared: Rule, question: Question, walk: Walk, content: Observed) -> Measured:
    judge, params, digest = declared.judge, dict(question.params), content.digest
    of_listing = bool(declared.checks) and declared.reads == listing.KIND
    if of_listing and revision.is_other_revision(declared, params, walk.listing):
        return Measured(0)
    things = walk.list_things(declared.scope)
    if declared.checks or declared.unjudged:
        return _decide(declared, things, params, digest, walk.skipped(declared.scope))
    findings = tuple(_finding(declared, thing, answer, digest) for thing in things for answer in judge(thing, **params))
    return Measured(len(things), findings, walk.skipped(declared.scope))


def _decide(
    declared: Rule,
    things: Sequence[Scope],
    params: Mapping[str, rule.ParamValue],
    digest: str,
    skipped: tuple[Skipped, ...],
) -> Measured:
    """Like `_ask`, for rules that may leave things unjudged; unjudged things do not count as checked."""
    checked, findings, undecided = 0, list[Finding](), list(skipped)
    judge = declared if declared.scope in _LIMITED_TO_REVISIONS else declared.judge
    for thing in things:
        try:
            findings += [_finding(declared, thing, answer, digest) for answer in judge(thing, **params)]
        except Inapplicable:
            continue
        except Undecided as reason:
            undecided.append(Skipped(thing.at, str(reason)))
            continue
        checked += 1
    return Measured(checked, tuple(findings), tuple(undecided))


def _finding(declared: Rule, thing: Scope, answer: Answer, evidence: str) -> Finding:
    at, position, share = thing.at, thing.position, WHOLE_SHARE
    if isinstance(answer, str):  # most answers
        return Finding(declared.id, at, evidence_path.make_visible(answer), evidence, position)
    match answer:
        case Tolerated(message, place):
            return replace(_finding(declared, thing, (place, message), evidence), tolerated=True)
        case PartialFailure(message, share, parts):
            at = _extend_path(thing.at, parts)
        case (Scope() as part, message):
            at, position = part.at, part.position
        case (Exchange() as exchange, message):
            at = exchange.at
        case (str(suffix), message):
            at = _extend_path(thing.at, (suffix,))
    return Finding(declared.id, at, evidence_path.make_visible(message), evidence, position, share=share)


def _extend_path(at: str, parts: tuple[str, ...]) -> str:
    segments = (evidence_path.escape_segment(part[: evidence_path.MAX_SEGMENT]) for part in parts)
    return evidence_path.join_segments(at, *segments)
