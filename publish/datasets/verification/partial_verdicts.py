"""Checks a receipt with caps of which some components rest on evidence that is not public.

Those components are taken as published, and determine whether their gates are shut. All other components and gates
are recomputed, and the rubric itself assembles value, grade, bounds, coverage and lines from both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import cached_property
from itertools import chain, product
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from evidence.kinds import access, listing, source
from evidence.model import Observed, Reason
from publish.datasets.verification.dossiers import RebuiltDossier
from publish.datasets.verification.published_parts import build_dimension, read_component, read_line
from publish.datasets.verification.receipt_matching import (
    WHOLE_RECEIPT,
    Mismatch,
    Place,
    ReceiptRows,
    find_first_difference,
    render_receipts,
)
from publish.datasets.verification.receipt_sums import find_wrong_sum
from publish.disclosure import WITHHELD, WITHHELD_CAP, ReviewedFindings, private_rule_ids, redact_receipt
from scoring.engine.assessment import Assessment, Question
from scoring.engine.rubric import Rubric, VerdictMethod, VerdictParts
from scoring.results import arithmetic, weighting
from scoring.results.outcome import Finding, Measured, NotMeasured, Outcome, Skipped
from scoring.results.scorecard import ComponentScore, DimensionScore, Line

_PLACES: Final = 12
"""Decimal places in which bounds of a component are compared with its result."""

_UNDECIDED: Final = frozenset({"inconclusive", "list_failed"})
_FOUND: Final = "finding"
_SCORE: Final = "score"


class VerdictSplicer(Struct, frozen=True, dict=True):
    """Splices the receipts of one server under a rubric with caps. `reviewed` are the disclosed findings."""

    rubric: Rubric
    method: VerdictMethod
    assessment: Assessment
    rebuilt: RebuiltDossier
    reviewed: ReviewedFindings

    @property
    def possible(self) -> bool:
        """Whether all evidence that the rubric itself reads, and that of all gates but one component, is public."""
        seen = isinstance(self.assessment.dossier.read(listing.KIND), Observed)
        needed = {listing.KIND, access.KIND} if seen else {listing.KIND, access.KIND, source.KIND}
        open_components = [one for one in self._gate_questions if self._component_of(one)]
        return not (self.rebuilt.missing & needed) and len(open_components) <= 1

    def splice(self, published: ReceiptRows) -> tuple[Mismatch | None, list[tuple[str, str]]]:
        """The first mismatch of a published receipt, if any, and the components that were taken as published.

        A receipt is right if it follows from one possible outcome of the question that decides private gates.
        """
        if wrong := next(chain(_list_wrong_sums(published), self._list_wrong_bounds(published)), None):
            return wrong, []
        first: Mismatch | None = None
        for assumed in self._assume_outcomes(published):
            parts = self.method.examine(assumed)
            wrong = find_first_difference(self._assemble(parts, assumed, published), published)
            if wrong is None:
                return None, [(str(one[0]), str(one[1])) for one in self._list_taken(parts, published)]
            if first is None or (first[0] == _SCORE != wrong[0]):  # closer: only a part differs
                first = wrong
        return first, []

    @cached_property
    def _gate_questions(self) -> frozenset[Question]:
        """Questions that decide a gate and whose evidence is not public."""
        rules = frozenset(chain.from_iterable(cap.rules for cap in self.method.caps))
        found = {one.question for one in self.rubric.criteria if one.rule in rules}
        return frozenset(question for question in found if self.rebuilt.lacks(question))

    def _assume_outcomes(self, published: ReceiptRows) -> Iterator[Assessment]:
        """The assessment under each outcome of the private questions that the published receipt allows."""
        questions = sorted(self._gate_questions, key=lambda question: question.rule)
        for outcomes in product(*(tuple(self._guess_outcomes(question, published)) for question in questions)):
            found = dict(zip(questions, outcomes, strict=True))
            yield replace(self.assessment, outcomes={**self.assessment.outcomes, **found})

    def _guess_outcomes(self, question: Question, published: ReceiptRows) -> Iterator[Outcome]:
        place = self._component_of(question)
        if place is None:
            found = Measured(1, (Finding(question.rule, "", _FOUND, ""),))
            is_published = question.rule in self.rebuilt.failed | {row["rule"] for row in published.lines}
            if not is_published:
                yield Measured(1)
            if is_published or (question.rule in private_rule_ids() and _hides_cap(published)):
                yield found
            return
        if place not in published.by_part:
            yield from _list_outcomes(question)
            return
        part = read_component(published, place)
        if isinstance(part.result, Decimal):
            findings = (Finding(question.rule, "", _FOUND, ""),) if part.result < weighting.FULL_POINTS else ()
            yield Measured(1, findings)
        elif part.result.reason == WITHHELD:
            yield from _list_outcomes(question)
        elif part.result.reason == weighting.NOT_APPLICABLE:
            yield Measured(0)
        elif part.result.reason in _UNDECIDED:
            yield Measured(0, (), (Skipped("", ""),))
        else:
            yield part.result

    def _component_of(self, question: Question) -> Place | None:
        """The component that this question alone decides."""
        for dimension in self.rubric.dimensions:
            for part in dimension.components:
                if {one.question for one in part.criteria} == {question}:
                    return dimension.name, part.name
        return None

    def _assemble(self, parts: VerdictParts, assumed: Assessment, published: ReceiptRows) -> ReceiptRows:
        dimensions = tuple(self._splice_dimension(one, published) for one in parts.dimensions)
        card = self.method.assemble(replace(parts, dimensions=dimensions), assumed)
        lines = self._with_published_words(card.lines, published)
        public = redact_receipt(replace(card, lines=lines), self.reviewed)
        return render_receipts([public], published)[0]

    def _with_published_words(self, lines: Sequence[Line], published: ReceiptRows) -> tuple[Line, ...]:
        """The lines, where caps by a private finding that was disclosed have the published words and place."""
        rules = {question.rule for question in self._gate_questions}
        published_lines = {
            row["cites"]: read_line(row) for row in published.places.get(WHOLE_RECEIPT, ()) if row["rule"] in rules
        }
        return tuple(
            replace(published_lines[line.cites], points=line.points) if line.cites in published_lines else line
            for line in lines
        )

    def _splice_dimension(self, mine: DimensionScore, published: ReceiptRows) -> DimensionScore:
        """The dimension with its open components as published, under the base weights of the methodology."""
        parts = [
            read_component(published, place, part.base_weight)
            if (place := (mine.name, part.name)) in self._open_parts and place in published.by_part
            else part
            for part in mine.components
        ]
        return build_dimension(mine.name, mine.base_weight, parts)

    @cached_property
    def _open_parts(self) -> frozenset[Place]:
        """Components of which some evidence is not public."""
        return frozenset(
            (dimension.name, part.name)
            for dimension in self.rubric.dimensions
            for part in dimension.components
            if any(self.rebuilt.lacks(one.question) for one in part.criteria)
        )

    def _list_wrong_bounds(self, published: ReceiptRows) -> Iterator[Mismatch]:
        """Open components whose result is not between their bounds."""
        for place in self._open_parts & published.by_part.keys():
            part = read_component(published, place)
            if not _is_bounded(part):
                at = f"{place[0]}.{place[1]} floor"
                yield at, "0 <= floor <= result <= ceiling <= 10", f"{part.floor} and {part.ceiling}"

    def _list_taken(self, parts: VerdictParts, published: ReceiptRows) -> Iterator[Place]:
        """The open components that the public evidence alone does not give."""
        for dimension in parts.dimensions:
            for part in dimension.components:
                place = (dimension.name, part.name)
                if place in self._open_parts and _summary(part) != _summary(read_component(published, place)):
                    yield place


def _list_wrong_sums(published: ReceiptRows) -> Iterator[Mismatch]:
    if wrong := find_wrong_sum(published):
        yield wrong


def _list_outcomes(question: Question) -> Iterator[Outcome]:
    yield Measured(1)
    yield Measured(1, (Finding(question.rule, "", _FOUND, ""),))
    yield NotMeasured(Reason.NOT_COLLECTED)
    yield NotMeasured(Reason.COLLECTOR_OFFLINE)


def _hides_cap(published: ReceiptRows) -> bool:
    """Whether a cap is by a finding that is not disclosed."""
    return any(row["cites"] == WITHHELD_CAP for row in published.lines)


def _is_bounded(part: ComponentScore) -> bool:
    known = [part.result] if isinstance(part.result, Decimal) else []
    ordered = [Decimal(0), part.floor, *known, part.ceiling, weighting.FULL_POINTS]
    rounded = [arithmetic.round_half_up(value, _PLACES) for value in ordered]
    return rounded == sorted(rounded)


def _summary(part: ComponentScore) -> tuple[object, ...]:
    return part.result, part.checked, part.floor, part.ceiling
