"""Run the rules over a dossier: each distinct question once, absent evidence as NotMeasured."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from types import MappingProxyType
from typing import Final

from msgspec import Struct

from evidence.kinds import listing, source
from evidence.kinds.exchanges import revision_letter
from evidence.model import Absent, Dossier, Observed
from scoring.engine import catalogue, revision, rule
from scoring.engine.assessment import Assessment, Question
from scoring.engine.locate import make_finding
from scoring.engine.rubric import Rubric
from scoring.engine.rule import Rule
from scoring.engine.tool_answers import AskedRule, ToolQuestions, answer_about_tools
from scoring.engine.walk import Pages, Walk
from scoring.results.outcome import Finding, Inapplicable, Measured, NotMeasured, Outcome, Skipped, Undecided
from scoring.scopes.base import Param, Scope, Tool, Toolset
from scoring.scopes.conversation import Conversation
from scoring.scopes.server_access import Access

_NOT_NEEDED: Final = NotMeasured("not_needed", "the evidence that the source would replace is present")

_LIMITED_TO_REVISIONS: Final = frozenset({Access, Conversation})
"""Scopes of which a rule judges only the exchanges under the protocol revisions of its checks."""

_OF_ONE_TOOL: Final = frozenset({Tool, Param})
"""Scopes whose rules read one tool and nothing else of the listing."""


def assess_dossier(dossier: Dossier, rubrics: Iterable[Rubric] | None = None) -> Assessment:
    """Ask every question that the rubrics (by default all of the catalogue) cite.

    An exception of a rule stops the whole assessment and gets a note with the rule and the server: a partial score
    must never be published.
    """
    questions = catalogue.list_questions() if rubrics is None else catalogue.list_cited_questions(rubrics)
    return ask_questions(dossier, questions)


def ask_questions(dossier: Dossier, questions: Sequence[Question]) -> Assessment:
    """Ask some questions; those about the same part of the same evidence are answered together."""
    walks = _build_walks(dossier, {question.pages for question in questions})
    shared = frozenset(pages for pages, walk in walks.items() if walk is walks[Pages.ALL]) - {Pages.ALL}
    asked = _plan(tuple(questions), shared)
    outcomes: dict[Question, Outcome] = {}

    @cache
    def read_evidence(kind: str) -> Observed | NotMeasured:
        content = dossier.read(kind)
        return NotMeasured(content.reason.value, content.detail) if isinstance(content, Absent) else content

    for group in asked.groups:
        walk, content = walks[group.pages], read_evidence(group.reads)
        if group.pages is Pages.SOURCE:
            content = _select_source(group.reads, walk, content, read_evidence(source.KIND))
        if isinstance(content, NotMeasured):
            outcomes.update((each.question, content) for each in group.asked)
            continue
        try:
            outcomes.update(_ask_group(group, walk, content))
        except Exception as error:
            error.add_note(f"while assessing server {dossier.server.id}; no score was made")
            raise
    outcomes = {question: outcomes[same] for question, same in asked.order}
    return Assessment(dossier=dossier, outcomes=outcomes, walks=walks, versions=dict(catalogue.pinned_versions()))


class _Group(Struct, frozen=True, eq=False):
    """Questions about the same pages that read the same kind of evidence."""

    pages: Pages
    reads: str
    asked: tuple[AskedRule, ...]


class _Plan(Struct, frozen=True):
    """Groups of distinct questions, and every question with the one that has the same outcome."""

    groups: tuple[_Group, ...]
    order: tuple[tuple[Question, Question], ...]


@lru_cache(maxsize=64)
def _plan(questions: tuple[Question, ...], shared: frozenset[Pages]) -> _Plan:
    """Cached, since a process asks the same questions about every server. `shared` pages are all pages."""
    known = rule.discover_rules()
    order = tuple((each, each.over_all_pages if each.pages in shared else each) for each in questions)
    grouped: dict[tuple[Pages, str], dict[Question, None]] = {}
    for _, each in order:
        grouped.setdefault((each.pages, known[each.rule].reads), {})[each] = None
    return _Plan(tuple(_group(pages, reads, tuple(asked)) for (pages, reads), asked in grouped.items()), order)


def _group(pages: Pages, reads: str, questions: tuple[Question, ...]) -> _Group:
    known = rule.discover_rules()
    asked = (AskedRule(each, known[each.rule], MappingProxyType(dict(each.params))) for each in questions)
    return _Group(pages, reads, tuple(asked))


def _ask_group(group: _Group, walk: Walk, content: Observed) -> Iterator[tuple[Question, Outcome]]:
    letter = revision_letter(walk.listing) if group.reads == listing.KIND else ""
    about_tools, others, of_other_revisions = _select_asked(group, letter)
    yield from ((question, Measured(0)) for question in of_other_revisions)
    if about_tools.apart or about_tools.together:
        yield from answer_about_tools(about_tools, walk, content.digest).items()
    for each in others:
        try:
            yield each.question, _ask(each, walk, content.digest)
        except Exception as error:
            error.add_note(f"raised by rule {each.declared.id}")
            raise


@lru_cache(maxsize=512)
def _select_asked(group: _Group, letter: str) -> tuple[ToolQuestions, tuple[AskedRule, ...], tuple[Question, ...]]:
    """What is asked about a listing of this revision: about tools, and about others; and what is not asked."""
    not_asked = {
        each.question for each in group.asked if revision.is_other_revision(each.declared, each.params, letter)
    }
    asked = [each for each in group.asked if each.question not in not_asked]
    about_tools = ToolQuestions(
        apart=tuple(each for each in asked if each.declared.scope in _OF_ONE_TOOL),
        together=tuple(each for each in asked if each.declared.scope is Toolset),
    )
    others = tuple(each for each in asked if each.declared.scope not in {*_OF_ONE_TOOL, Toolset})
    return about_tools, others, tuple(not_asked)


def ask_rule(declared: Rule, thing: Scope, evidence: str = "", **params: rule.ParamValue) -> tuple[Finding, ...]:
    """The findings of one rule about one thing; raise Inapplicable or Undecided as the rule does."""
    return tuple(make_finding(declared.id, thing, answer, evidence) for answer in declared(thing, **params))


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
    reads: str, walk: Walk, content: Observed | NotMeasured, files: Observed | NotMeasured
) -> Observed | NotMeasured:
    """The source in place of missing evidence; a source without readable tools cannot replace the listing."""
    if isinstance(content, Observed):
        return _NOT_NEEDED
    if isinstance(files, Observed) and reads == listing.KIND and not walk.tools:
        return NotMeasured("nothing_to_check", "no tool could be read in the source")
    return files


def _ask(asked: AskedRule, walk: Walk, digest: str) -> Measured:
    declared, params = asked.declared, asked.params
    things = walk.list_things(declared.scope)
    if declared.checks or declared.unjudged:
        return _decide(declared, things, params, digest, walk.skipped(declared.scope))
    judge, name = asked.judge, declared.id
    findings = [make_finding(name, thing, answer, digest) for thing in things for answer in judge(thing)]
    return Measured(len(things), tuple(findings), walk.skipped(declared.scope))


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
            findings += [make_finding(declared.id, thing, answer, digest) for answer in judge(thing, **params)]
        except Inapplicable:
            continue
        except Undecided as reason:
            undecided.append(Skipped(thing.at, str(reason)))
            continue
        checked += 1
    return Measured(checked, tuple(findings), tuple(undecided))
