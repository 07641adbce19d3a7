"""Outcomes of all questions about one dossier: the input of every rubric."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from functools import cached_property

from msgspec import Struct

from evidence.kinds import listing, source
from evidence.model import Dossier, ServerId
from scoring.engine.rule import ParamValue
from scoring.engine.walk import Pages, Walk
from scoring.results.outcome import Outcome


class Question(Struct, frozen=True, dict=True, cache_hash=True):
    """A rule with a value for every parameter, and the pages that it judges."""

    rule: str
    params: tuple[tuple[str, ParamValue], ...] = ()
    pages: Pages = Pages.ALL

    @cached_property
    def over_all_pages(self) -> Question:
        return Question(self.rule, self.params)


class Assessment(Struct, frozen=True, kw_only=True, dict=True):
    """The outcome of every question about one dossier. Rubrics are pure functions of it."""

    dossier: Dossier
    outcomes: Mapping[Question, Outcome]
    walks: Mapping[Pages, Walk]
    versions: Mapping[str, str]

    @property
    def server(self) -> ServerId:
        return self.dossier.server.id

    @property
    def as_of(self) -> datetime:
        return self.dossier.as_of

    @property
    def evidence(self) -> dict[str, str]:
        """Digest of the content of every kind in the dossier, also of absent content."""
        return {kind: record.digest for kind, record in sorted(self.dossier.records.items())}

    @property
    def tools_in_source(self) -> bool:
        """Whether tools are judged from the source because there is no listing."""
        walk = self.walks[Pages.SOURCE]
        return bool(walk.absent(listing.KIND)) and not walk.absent(source.KIND) and bool(walk.tools)

    def outcome(self, question: Question) -> Outcome:
        """The outcome of a question; raise LookupError when the question was not asked."""
        outcome = self.outcomes.get(question)
        if outcome is None:
            raise LookupError(f"{question} was not asked; assess_dossier() asks what the catalogue's rubrics cite")
        return outcome
