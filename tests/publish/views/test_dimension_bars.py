"""Bars of dimensions: guaranteed, unmeasured and lost parts in words."""

from __future__ import annotations

from decimal import Decimal

import pytest

from evidence.model import Reason
from publish.views.dimension_bars import DimensionBar, list_dimension_bars
from scoring.engine.assess import assess_dossier
from scoring.rubrics.adaptive_verdict import ADAPTIVE_2
from tests.dossiers import captures
from tests.publish import samples


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        ("10", "10", "10 of 10"),
        ("6.66", "6.66", "6.7 of 10"),
        ("2", "9.5", "2 to 9.5 of 10"),
        ("0", "10", "not measured"),
        ("0", "0", "0 of 10"),
        (None, None, "does not apply"),
    ],
)
def test_the_words_of_a_bar(low: str | None, high: str | None, words: str) -> None:
    bounds = [None if value is None else Decimal(value) for value in (low, high)]
    assert DimensionBar("security", bounds[0], bounds[1], Decimal(1)).words == words


def test_there_is_a_bar_for_each_dimension_within_its_bounds() -> None:
    for dossier in list(captures().values())[:4]:
        card = ADAPTIVE_2.score(assess_dossier(dossier, [ADAPTIVE_2]))
        bars = list(list_dimension_bars(card))
        assert [bar.name for bar in bars] == [part.name for part in card.dimensions]
        assert sum(bar.share for bar in bars) == 1
        assert any(bar.low is not None for bar in bars)
        assert all(bar.low is None or (bar.high is not None and 0 <= bar.low <= bar.high <= 10) for bar in bars)


def test_without_a_network_of_ours_a_dimension_is_not_measured_but_may_apply() -> None:
    dossier = samples.absent_dossier(Reason.COLLECTOR_OFFLINE, "offline")
    bars = list(list_dimension_bars(ADAPTIVE_2.score(assess_dossier(dossier, [ADAPTIVE_2]))))
    assert {bar.words for bar in bars if bar.low is None} == {"not measured"}
