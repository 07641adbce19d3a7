"""Run the rules over a dossier: each distinct question once, absent evidence as NotMeasured."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Final, Self

from evidence.kinds import listing, source
from evidence.kinds.exchanges import Exchange
from evidence.model import Absent, Dossier, Observed
from scoring.engine import catalogue, revision, rule
from scoring.engine.assessment import Assessment, Question
from scoring.engine.rubric import Rubric
from scoring.engine.rule import Answer, Rule
from scoring.engine.walk import Pages, Walk
from scoring.results.outcome import (
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

_SEEN: Final = NotMeasured("not_needed", "what the source would stand in for is there")

_NARROWED: Final = frozenset({Access, Conversation})
"""Scopes of which a rule judges only what was said under the revisions of its checks."""


def assess_dossier(dossier: Dossier, rubrics: Iterable[Rubric] | None = None) -> Assessment:
    """Ask everything that the rubrics (by default all of the catalogue) cite.

    A rule that raises stops the whole assessment, with the rule and the server named in a note: a partial score
    must never be published.
    """
    walks = _walks(dossier)
    questions = catalogue.list_questions() if rubrics is None else catalogue.list_cited_questions(rubrics)
    known, seen = rule.discover_rules(), _Seen(dossier)
    outcomes: dict[Question, Outcome] = {}
    with _Blame(dossier) as blame:
        for question in questions:
            walk = walks[question.pages]
            shared = question.pages is not Pages.ALL and walk is walks[Pages.ALL]
            outcome = outcomes.get(question.over_all_pages) if shared else None
            if outcome is None:
                declared = known[question.rule]
                content, blame.rule = seen[declared.reads], question.rule
                if question.pages is Pages.SOURCE:
                    content = _in_source(declared, walk, content, seen[source.KIND])
                outcome = content if isinstance(content, NotMeasured) else _ask(declared, question, walk, content)
            outcomes[question] = outcome
    return Assessment(dossier=dossier, outcomes=outcomes, walks=walks, versions=dict(catalogue.pinned_versions()))


def ask_rule(declared: Rule, thing: Scope, evidence: str = "", **params: rule.ParamValue) -> tuple[Finding, ...]:
    """The findings of one rule about one thing; raise Inapplicable or Undecided when it does not judge it."""
    return tuple(_finding(declared, thing, answer, evidence) for answer in declared(thing, **params))


def _walks(dossier: Dossier) -> dict[Pages, Walk]:
    whole = Walk(dossier)
    return {
        Pages.ALL: whole,
        Pages.FIRST: Walk(dossier, Pages.FIRST) if whole.paginated else whole,
        Pages.SENT: Walk(dossier, Pages.SENT) if whole.undeclared else whole,
        Pages.SOURCE: Walk(dossier, Pages.SOURCE),
    }


class _Seen(dict[str, Observed | NotMeasured]):
    """What there is of each kind of evidence in a dossier, read when first asked for."""

    def __init__(self, dossier: Dossier) -> None:
        super().__init__()
        self._dossier = dossier

    def __missing__(self, kind: str) -> Observed | NotMeasured:
        content = self._dossier.read(kind)
        found = NotMeasured(content.reason.value, content.detail) if isinstance(content, Absent) else content
        return self.setdefault(kind, found)


def _in_source(
    declared: Rule, walk: Walk, content: Observed | NotMeasured, files: Observed | NotMeasured
) -> Observed | NotMeasured:
    """The source where other evidence is missing; one in which no tool can be read tells nothing of tools."""
    if isinstance(content, Observed):
        return _SEEN
    if isinstance(files, Observed) and declared.reads == listing.KIND and not walk.tools:
        return NotMeasured("nothing_to_check", "no tool could be read in the source")
    return files


def _ask(declared: Rule, question: Question, walk: Walk, content: Observed) -> Measured:
    judge, params, digest = declared.judge, dict(question.params), content.digest
    if (
        declared.checks
        and declared.reads == listing.KIND
        and revision.is_other_revision(declared, params, walk.listing)
    ):
        return Measured(0)
    things = walk.of(declared.scope)
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
    """Like `_ask`, for a rule that may leave a thing unjudged: then it does not count as checked."""
    checked, findings, undecided = 0, list[Finding](), list(skipped)
    judge = declared if declared.scope in _NARROWED else declared.judge
    for thing in things:
        try:
            findings += [_finding(declared, thing, answer, digest) for answer in judge(thing, **params)]
        except Inapplicable:
            continue
        except Undecided as why:
            undecided.append(Skipped(thing.at, str(why)))
            continue
        checked += 1
    return Measured(checked, tuple(findings), tuple(undecided))


def _finding(declared: Rule, thing: Scope, answer: Answer, evidence: str) -> Finding:
    if isinstance(answer, str):
        return Finding(declared.id, thing.at, evidence_path.make_visible(answer), evidence, thing.position)
    if isinstance(answer, Tolerated):
        return replace(_finding(declared, thing, (answer.at, answer.message), evidence), tolerated=True)
    if isinstance(answer, PartialFailure):
        at = evidence_path.join_segments(
            thing.at, *(evidence_path.escape_segment(part[: evidence_path.MAX_SEGMENT]) for part in answer.at)
        )
        message = evidence_path.make_visible(answer.message)
        return Finding(declared.id, at, message, evidence, thing.position, share=answer.share)
    where, message = answer
    if isinstance(where, Scope):
        return Finding(declared.id, where.at, evidence_path.make_visible(message), evidence, where.position)
    if isinstance(where, Exchange):
        return Finding(declared.id, where.at, evidence_path.make_visible(message), evidence, thing.position)
    at = (
        evidence_path.join_segments(thing.at, evidence_path.escape_segment(where[: evidence_path.MAX_SEGMENT]))
        if where
        else thing.at
    )
    return Finding(declared.id, at, evidence_path.make_visible(message), evidence, thing.position)


class _Blame:
    """Names the rule at work and the server on any error that passes, and lets it pass."""

    def __init__(self, dossier: Dossier) -> None:
        self._dossier = dossier
        self.rule = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is not None:
            server = self._dossier.server.id
            error.add_note(f"raised by rule {self.rule} while assessing server {server}; no score was made")
