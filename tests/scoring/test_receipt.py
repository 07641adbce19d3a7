"""A receipt is canonical, exact, and enough to recompute the score."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from msgspec.structs import replace

from evidence.canonical import canonical_json
from evidence.model import Absent, Dossier, Reason
from scoring.engine import catalogue
from scoring.engine.assess import assess_dossier
from scoring.explain import explain_rubric, explain_rule, explain_scorecard
from scoring.receipt import NotAReceipt, decode_scorecard, encode_scorecard, recompute_score
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import Scorecard
from tests.dossiers import captures, cases, recorded
from tests.sampling import some
from tests.scoring.dossiers import GOOD_TOOL, dossier, entered, listed

DOSSIERS = {
    **captures(),
    **recorded(),
    **cases(),
    "locked": dossier(listed=Absent(Reason.OAUTH_REQUIRED, "401"), registered=entered({})),
    "nothing": dossier(),
    "astral": dossier(listed=listed({**GOOD_TOOL, "name": "\U0001f600"}, {**GOOD_TOOL, "name": "\uffee"})),
}


def cards(evidence: Dossier) -> list[Scorecard]:
    assessment = assess_dossier(evidence)
    return [rubric.score(assessment) for rubric in catalogue.list_rubrics()]


@pytest.mark.parametrize("name", some(DOSSIERS, 40, besides=["locked", "nothing", "astral"]))
def test_receipts_are_canonical_exact_and_enough_to_recompute_the_score(name: str) -> None:
    for card in cards(DOSSIERS[name]):
        data = encode_scorecard(card)
        assert decode_scorecard(data) == card
        assert encode_scorecard(decode_scorecard(data)) == data
        assert canonical_json(json.loads(data)) == data
        assert recompute_score(decode_scorecard(data)) == card.score


def test_a_changed_line_is_noticed() -> None:
    for card in cards(captures()["mcp-server-time"]):
        if isinstance(card.score, NotMeasured):
            continue  # without a score there is nothing to recompute
        if card.dimensions:
            dimension = card.dimensions[0]
            inner = dimension.components[0]
            forged_part = replace(inner, lines=(*inner.lines, replace(card.lines[0], points=Decimal(-5))))
            forged = replace(dimension, components=(forged_part, *dimension.components[1:]))
            changed = replace(card, dimensions=(forged, *card.dimensions[1:]))
        else:
            changed = replace(card, lines=(*card.lines, replace(card.lines[0], points=Decimal(-5))))
        assert recompute_score(changed) != card.score


@pytest.mark.parametrize("data", [b"[]", b"{}", b'{"score":1}', b'{"score":"1"}'])
def test_other_json_is_not_a_receipt(data: bytes) -> None:
    with pytest.raises(NotAReceipt):
        decode_scorecard(data)


def test_an_explanation_names_every_line_and_its_points() -> None:
    for card in cards(captures()["mcp-server-git"]):
        text = str(explain_scorecard(card))
        assert f"{card.score} of 100" in text or isinstance(card.score, NotMeasured)
        for line in (
            *card.lines,
            *(line for part in card.dimensions for inner in part.components for line in inner.lines),
        ):
            assert line.why in text


def test_absence_is_explained_and_is_not_a_zero() -> None:
    for card in cards(DOSSIERS["locked"]):
        text = str(explain_scorecard(card))
        assert "oauth_required" in text or card.rubric == "sdk_tier"  # it reads evidence that is not collected yet
        assert "0 of 100" not in text or card.rubric == "adaptive"


def test_a_rule_is_explained_with_everybody_who_cites_it() -> None:
    text = str(explain_rule("tool-description-short"))
    assert "tool-short-description (rule tool-description-short): minimum=10 [warning, 5 points a finding]" in text
    with pytest.raises(LookupError, match="no rule 'nonsense'"):
        explain_rule("nonsense")


def test_a_rubric_is_explained_with_what_was_settled() -> None:
    assert "Reliability: 25 %" in str(explain_rubric("adaptive"))
    assert "server-grade-f" in str(explain_rubric("lint@1"))
