"""The kinds of evidence that a rubric reads: its receipts stay the same as long as those kinds do."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from evidence.kinds import dependencies, listing, package, registration, repository, source
from scoring.engine.assessment import Question
from scoring.engine.rubric import Rubric
from scoring.engine.rule import discover_rules
from scoring.engine.walk import Pages
from scoring.scopes.base import Registered, Scope
from scoring.scopes.project import Project, Published
from scoring.scopes.publisher import Publisher
from scoring.scopes.source_files import Variable
from scoring.scopes.supply_chain import Audit

# Every walk checks whether there is a listing, and whether the source can replace it.
_ALWAYS: Final = frozenset({listing.KIND, source.KIND})

_ADDITIONAL: Final[Mapping[type[Scope], frozenset[str]]] = {
    Audit: frozenset({dependencies.KIND}),
    Project: frozenset({package.KIND}),
    Published: frozenset({registration.KIND}),
    Publisher: frozenset({package.KIND, repository.KIND}),
    Registered: frozenset({repository.KIND}),
    Variable: frozenset({registration.KIND}),
}
"""Kinds that the things of a scope hold besides the kind that the scope reads."""


def reads_date(question: Question) -> bool:
    """Whether the outcome may depend on the date of the evidence: the things of the rule's scope hold the moment."""
    return "moment" in discover_rules()[question.rule].scope.__struct_fields__


def kinds_of_rubric(rubric: Rubric) -> frozenset[str]:
    """The kinds that decide a rubric's receipts, apart from the evidence digests that every receipt lists."""
    return kinds_of_questions(rubric.questions)


@lru_cache(maxsize=16)
def kinds_of_questions(questions: tuple[Question, ...]) -> frozenset[str]:
    """The kinds that decide the outcomes of some questions."""
    return _ALWAYS.union(*map(kinds_of_question, questions))


def kinds_of_question(question: Question) -> frozenset[str]:
    """The kinds that decide the outcome of one question, apart from whether there is a listing."""
    rule = discover_rules()[question.rule]
    if question.pages is Pages.SOURCE:
        return frozenset({rule.reads, source.KIND, listing.KIND})
    return frozenset({rule.reads}) | _ADDITIONAL.get(rule.scope, frozenset())
