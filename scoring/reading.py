"""Which kinds of evidence a rubric can read: its receipts are the same as long as those are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from evidence.kinds import dependencies, listing, package, registration, repository, source
from scoring.project_scope import Project, Published
from scoring.publisher_scope import Publisher
from scoring.rubric import Rubric
from scoring.scope import Registered, Scope
from scoring.source_scope import Variable
from scoring.supply_scope import Audit

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


def kinds_read(rubric: Rubric) -> frozenset[str]:
    """The kinds that decide a rubric's receipts, but for the digests of evidence that every receipt lists."""
    rules = [criterion.declared for criterion in rubric.criteria]
    beside = (_BESIDE.get(rule.scope, frozenset()) for rule in rules)
    return _ALWAYS.union({rule.reads for rule in rules}, *beside)
