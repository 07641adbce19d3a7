"""What every rubric of the catalogue owes: order of records does not matter, and lines sum to the score."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from scoring.engine import catalogue
from scoring.engine.assess import assess_dossier
from scoring.engine.rubric import Rubric
from scoring.receipt import START_FACT, encode_scorecard
from scoring.results.outcome import NotMeasured
from tests.dossiers import captures
from tests.scoring.dossiers import GOOD_ENTRY, dossier, entered

EVERY = pytest.mark.parametrize("rubric", catalogue.list_rubrics(), ids=lambda rubric: rubric.name)
SOME = sorted(captures())[::4]


def whole(name: str, *, backwards: bool = False) -> object:
    evidence = captures()[name]
    records = list({**evidence.records, **dossier(registered=entered(GOOD_ENTRY)).records}.items())
    return replace(evidence, records=dict(reversed(records) if backwards else records))


@EVERY
def test_order_of_records_does_not_matter(rubric: Rubric) -> None:
    for name in SOME:
        one, other = (rubric.score(assess_dossier(whole(name, backwards=way), [rubric])) for way in (False, True))  # type: ignore[arg-type]
        assert encode_scorecard(one) == encode_scorecard(other)


@EVERY
def test_lines_sum_to_the_score(rubric: Rubric) -> None:
    for name in SOME:
        card = rubric.score(assess_dossier(whole(name), [rubric]))  # type: ignore[arg-type]
        if not isinstance(card.score, NotMeasured):
            start = int(card.facts.get(START_FACT, 0))
            assert start + sum(line.points for line in card.lines) == card.score
