"""Receipts give the order of fixes, a new score gives the gain of each; neither shows an undisclosed finding."""

from __future__ import annotations

from decimal import Decimal

import pytest
from msgspec.structs import replace

from evidence.model import Dossier
from publish.disclosure import NOT_REVIEWED, WITHHELD, ReviewedFindings, private_rule_ids, redact_receipt
from publish.views.fix_costs import predict_public_fixes, rank_costs
from scoring.engine import catalogue
from scoring.engine.assess import assess_dossier
from scoring.remedy import plan_fixes
from tests.publish.findings.test_identity import INJECTION, server
from tests.publish.site.listing_stores import judged
from tests.publish.views.test_server_summary import capture

ADAPTIVE = catalogue.get_rubric("adaptive")


def test_what_a_rule_costs_is_what_its_lines_take_from_the_score() -> None:
    cards = {card.rubric: card for card in judged(server("", "Gets it"))}
    lint = cards["lint"]
    found = rank_costs([lint])
    assert sum(price.points for cost in found for price in cost.prices) == -sum(
        line.points for line in lint.lines if line.points < 0 and line.rule
    )
    assert [sum(price.points for price in cost.prices) for cost in found] == sorted(
        (sum(price.points for price in cost.prices) for cost in found), reverse=True
    )


@pytest.mark.parametrize("name", ["adaptive@1", "adaptive@2"])
def test_shares_of_weighted_parts_are_points_of_the_score(name: str) -> None:
    schema = {"type": "object", "properties": {"id": {"type": "string"}}}
    texts = ("Gets it", "Reads one note by its id, when the id is known.")
    tools = [{"name": f"tool_{at}", "description": text, "inputSchema": schema} for at, text in enumerate(texts)]
    dossier = capture(tools, {})
    rubric = catalogue.get_rubric(name)
    card = next(card for card in judged(dossier) if f"{card.rubric}@{card.version}" == name)
    (cost,) = [cost for cost in rank_costs([card]) if cost.rule == "tool-description-short"]
    outlook = plan_fixes(assess_dossier(dossier, [rubric]), rubric)
    (remedy,) = [one for one in outlook.remedies if one.rule == "tool-description-short"]
    assert abs(cost.prices[0].points - remedy.gain.points) < Decimal("0.001")


def test_the_main_methodology_decides_the_order() -> None:
    cards = {card.rubric: card for card in judged(server("", "Gets it"))}
    found = rank_costs([cards["adaptive"], cards["lint"]])
    first = [price.points if price.rubric == "adaptive" else Decimal(0) for price in (one.prices[0] for one in found)]
    assert first == sorted(first, reverse=True)


def poisoned() -> Dossier:
    return server(INJECTION, "Gets it")


def test_costs_of_public_receipts_name_no_finding_of_our_own() -> None:
    cards = judged(poisoned())
    assert private_rule_ids() & {cost.rule for cost in rank_costs(cards)}
    ranked_rules = {cost.rule for cost in rank_costs([redact_receipt(card) for card in cards])}
    assert not ranked_rules & (private_rule_ids() | {WITHHELD})


def test_fixes_of_our_own_findings_are_left_out_with_the_sum_of_all() -> None:
    found = predict_public_fixes(poisoned(), ADAPTIVE, NOT_REVIEWED)
    assert found.remedies
    assert not {remedy.rule for remedy in found.remedies} & private_rule_ids()
    assert found.everything is None


def test_a_disclosed_finding_is_a_fix_like_any_other() -> None:
    dossier = poisoned()
    whole = plan_fixes(assess_dossier(dossier, [ADAPTIVE]), ADAPTIVE)
    spots = [
        (remedy.rule, spot.at, why)
        for remedy in whole.remedies
        if remedy.rule in private_rule_ids()
        for spot in remedy.spots
        for why in spot.why
    ]
    assert spots
    assert predict_public_fixes(dossier, ADAPTIVE, ReviewedFindings(disclosed=frozenset(spots))) == whole
    other = frozenset((rule, at, f"{why}!") for rule, at, why in spots)
    assert predict_public_fixes(dossier, ADAPTIVE, ReviewedFindings(disclosed=other)).everything is None


def test_without_private_findings_nothing_is_left_out() -> None:
    dossier = replace(server("Gets it"))
    assert predict_public_fixes(dossier, ADAPTIVE, NOT_REVIEWED) == plan_fixes(
        assess_dossier(dossier, [ADAPTIVE]), ADAPTIVE
    )
