"""What the rules answered about one dossier: the input of every rubric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from evidence.kinds import listing, source
from evidence.model import Dossier, ServerId
from scoring.engine.rule import ParamValue
from scoring.engine.walk import Pages, Walk
from scoring.results.outcome import Outcome


@dataclass(frozen=True)
class Question:
    """A rule with every parameter set, over all pages or the first page of each list."""

    rule: str
    params: tuple[tuple[str, ParamValue], ...] = ()
    pages: Pages = Pages.ALL

    @cached_property
    def over_all_pages(self) -> Question:
        """The same question over all pages."""
        return Question(self.rule, self.params)

    @cached_property
    def _hash(self) -> int:
        return hash((self.rule, self.params, self.pages.value))

    def __hash__(self) -> int:
        return self._hash  # asked for several times a server, and an enum's own hash is slow


@dataclass(frozen=True, kw_only=True)
class Assessment:
    """The outcome of every question about one dossier. Rubrics are pure functions of it."""

    dossier: Dossier
    outcomes: Mapping[Question, Outcome]
    walks: Mapping[Pages, Walk]
    versions: Mapping[str, str]

    @property
    def server(self) -> ServerId:
        """Id of the server that was assessed."""
        return self.dossier.server.id

    @property
    def as_of(self) -> datetime:
        """The moment the evidence stands for."""
        return self.dossier.as_of

    @property
    def evidence(self) -> dict[str, str]:
        """Digest of the content of every kind in the dossier, absences included."""
        return {kind: record.digest for kind, record in sorted(self.dossier.records.items())}

    @property
    def tools_in_source(self) -> bool:
        """Whether tools are judged as the source shows them, because nothing was listed."""
        walk = self.walks[Pages.SOURCE]
        return bool(walk.absent(listing.KIND)) and not walk.absent(source.KIND) and bool(walk.tools)

    def outcome(self, question: Question) -> Outcome:
        """The answer to a question that was asked; raise LookupError for one that was not."""
        outcome = self.outcomes.get(question)
        if outcome is None:
            raise LookupError(f"{question} was not asked; assess() asks what the catalogue's rubrics cite")
        return outcome
