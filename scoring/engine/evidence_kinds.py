"""Which kinds of evidence a rubric can read: its receipts are the same as long as those are."""

from __future__ import annotations

from collections.abc import Mapping
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

# Every walk looks whether there is a listing, and for the source that may stand in for it.
_ALWAYS: Final = frozenset({listing.KIND, source.KIND})

_BESIDE: Final[Mapping[type[Scope], frozenset[str]]] = {
    Audit: frozenset({dependencies.KIND}),
    Project: frozenset({package.KIND}),
    Published: frozenset({registration.KIND}),
    Publisher: frozenset({package.KIND, repository.KIND}),
    Registered: frozenset({repository.KIND}),
    Variable: frozenset({registration.KIND}),
}
"""What things of a scope show besides the kind that the scope reads."""


def kinds_of_rubric(rubric: Rubric) -> frozenset[str]:
    """The kinds that decide a rubric's receipts, but for the digests of evidence that every receipt lists."""
    return _ALWAYS.union(*(kinds_of_question(criterion.question) for criterion in rubric.criteria))


def kinds_of_question(question: Question) -> frozenset[str]:
    """The kinds that decide the answer to one question, beside whether there is a listing."""
    rule = discover_rules()[question.rule]
    if question.pages is Pages.SOURCE:
        return frozenset({rule.reads, source.KIND, listing.KIND})
    return frozenset({rule.reads}) | _BESIDE.get(rule.scope, frozenset())
