"""`adaptive@2`: hiding evidence never pays, harm caps the grade, and the receipt adds up."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

import pytest

from evidence.kinds import listing
from evidence.model import Absent, Dossier, Observed, Reason
from scoring import receipt
from scoring.engine.assess import assess_dossier
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import Scorecard
from scoring.results.verdict import NOT_ENOUGH_EVIDENCE, read_verdict
from scoring.rubrics.adaptive_verdict import ADAPTIVE_2, BANDS, CEILINGS, DIMENSIONS, LOWEST, MIN_COVERAGE
from tests.dossiers import captures, recorded
from tests.sampling import some
from tests.scoring.dossiers import GOOD_ENTRY, dossier, entered, listed

GRADES = [LOWEST, *reversed([name for _, name in BANDS])]
FAILURES = [
    Reason.NOT_COLLECTED,
    Reason.UNREACHABLE,
    Reason.TIMEOUT,
    Reason.FORBIDDEN,
    Reason.OAUTH_REQUIRED,
    Reason.TOO_LARGE,
    Reason.NOT_MCP,
    Reason.RATE_LIMITED,
]
DOSSIERS = {**captures(), **recorded()}


def scored(evidence: Dossier) -> Scorecard:
    return ADAPTIVE_2.score(assess_dossier(evidence, [ADAPTIVE_2]))


def value(card: Scorecard) -> Decimal:
    return Decimal(-1) if isinstance(card.score, NotMeasured) else card.score


def rank(card: Scorecard) -> int:
    return -1 if card.grade is None else GRADES.index(card.grade)


def without(evidence: Dossier, kind: str, reason: Reason) -> Dossier:
    record = replace(evidence.records[kind], content=Absent(reason, "hidden"))
    return replace(evidence, records={**evidence.records, kind: record})


def hidden_ways(evidence: Dossier) -> Iterator[tuple[str, Dossier]]:
    """The dossier with one record removed, with one made to fail in each way, and with a listing that is cut."""
    for kind in evidence.records:
        rest = {name: record for name, record in evidence.records.items() if name != kind}
        yield f"{kind} removed", replace(evidence, records=rest)
        for reason in FAILURES:
            yield f"{kind} {reason}", without(evidence, kind, reason)
    record = evidence.records[listing.KIND]
    if isinstance(record.content, Observed):
        for name in ("tools", "prompts", "resources"):
            body = json.loads(record.content.body)
            if name in body.get("lists", {}):
                body["lists"][name].update(pages=[], end="error", error={"code": -32603, "message": "no"})
                cut = replace(record, content=Observed(json.dumps(body).encode()))
                yield f"{name} refused", replace(evidence, records={**evidence.records, listing.KIND: cut})


@pytest.mark.parametrize("name", some(DOSSIERS, 9))
def test_hiding_evidence_never_raises_the_value_or_the_grade(name: str) -> None:
    before = scored(DOSSIERS[name])
    for way, dossier_hidden in hidden_ways(DOSSIERS[name]):
        after = scored(dossier_hidden)
        assert value(after) <= value(before), way
        assert rank(after) <= rank(before), way
        assert after.floor <= before.floor, way


@pytest.mark.parametrize("name", DOSSIERS)
def test_the_lines_sum_to_the_value_and_the_receipt_recomputes(name: str) -> None:
    card = scored(DOSSIERS[name])
    if isinstance(card.score, Decimal):
        assert sum(line.points for line in card.lines) == card.score == card.floor <= card.ceiling
    decoded = receipt.decode_scorecard(receipt.encode_scorecard(card))
    assert decoded == card
    assert receipt.recompute_score(decoded) == card.score


def test_weights_of_dimensions_are_the_published_ones() -> None:
    assert [int(part.weight) for part in DIMENSIONS] == [25, 25, 15, 15, 10, 10]
    assert set(CEILINGS) == {*GRADES}


@pytest.mark.parametrize("reason", [Reason.UNREACHABLE, Reason.NOT_MCP, Reason.TIMEOUT, Reason.TOO_LARGE])
def test_a_server_that_could_not_be_listed_has_no_score(reason: Reason) -> None:
    verdict = read_verdict(scored(dossier(listed=Absent(reason, "seen"), registered=entered(GOOD_ENTRY))))
    assert (verdict.status, verdict.value, verdict.grade) == (NOT_ENOUGH_EVIDENCE, None, None)


def test_an_empty_listing_has_no_score() -> None:
    assert read_verdict(scored(dossier(listed=listed()))).status == NOT_ENOUGH_EVIDENCE


def test_below_the_published_coverage_there_is_no_score() -> None:
    card = scored(dossier(registered=entered(GOOD_ENTRY)))
    assert card.coverage < MIN_COVERAGE
    assert isinstance(card.score, NotMeasured)


def test_the_weights_of_components_add_up_to_those_of_their_dimensions() -> None:
    for dimension in ADAPTIVE_2.dimensions:
        assert sum(component.weight for component in dimension.components) == dimension.weight, dimension.name
