"""A cap by an undisclosed finding says that there is one, and not which gate, rule, place or text it is."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import cache

import pytest
from msgspec.structs import replace

from evidence.kinds import falls, listing, secrets
from evidence.model import Dossier
from publish.disclosure import (
    GATE_WITHHELD,
    SET_ASIDE,
    UNDER_DISCLOSURE,
    WITHHELD,
    WITHHELD_CAP,
    ReviewedFindings,
    find_private_lines,
    redact_receipt,
    redact_receipt_body,
)
from publish.findings.identity import decode_private_lines, find_private_findings, identify_findings
from scoring import receipt
from scoring.engine.assess import assess_dossier
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import ComponentScore, Line, Scorecard
from scoring.results.verdict import CAP, read_verdict
from scoring.rubrics.adaptive_verdict import ADAPTIVE_2
from scoring.rubrics.sdk_tier import SDK_TIER_1
from tests.publish.capped import clean, fallen, leaking, poisoned
from tests.scoring import rich

CAPPED = {"poisoned": poisoned, "leaking": leaking, "fallen": fallen}


@cache
def card_of(make: Callable[[], Dossier]) -> Scorecard:
    return ADAPTIVE_2.score(assess_dossier(make(), [ADAPTIVE_2]))


def caps(card: Scorecard) -> list[Line]:
    return [line for line in card.lines if line.cites.startswith(CAP)]


def cards_of(dossier: Dossier) -> list[Scorecard]:
    rubrics = [ADAPTIVE_2, SDK_TIER_1]
    assessment = assess_dossier(dossier, rubrics)
    return [rubric.score(assessment) for rubric in rubrics]


def gates(card: Scorecard) -> list[ComponentScore]:
    return [part for dimension in card.dimensions for part in dimension.components if not part.base_weight]


def spots(card: Scorecard) -> frozenset[tuple[str, str, str]]:
    return frozenset((line.rule or "", line.at, line.why) for line in find_private_lines(card))


@pytest.mark.parametrize("name", CAPPED)
def test_a_cap_by_an_undisclosed_finding_says_only_that_there_is_one(name: str) -> None:
    card = card_of(CAPPED[name])
    (private,) = (line for line in caps(card) if line.rule)
    (line,) = (line for line in caps(redact_receipt(card)) if line.cites == WITHHELD_CAP)
    assert line == Line(cites=WITHHELD_CAP, points=private.points, why=UNDER_DISCLOSURE)
    assert line.points < 0
    assert UNDER_DISCLOSURE in read_verdict(redact_receipt(card)).caps


@pytest.mark.parametrize("make", [leaking, fallen])
def test_nothing_else_on_the_receipt_tells_the_gates_apart(make: Callable[[], Dossier]) -> None:
    poison, leak = redact_receipt(card_of(poisoned)), redact_receipt(card_of(make))
    assert gates(poison) == gates(leak)
    assert {part.result for part in gates(poison)} == {NotMeasured(WITHHELD, GATE_WITHHELD)}
    assert [(part.name, part.status) for part in poison.dimensions] == [
        (part.name, part.status) for part in leak.dimensions
    ]
    assert {line.cites for line in poison.lines} == {line.cites for line in leak.lines}


@pytest.mark.parametrize("name", CAPPED)
def test_the_public_receipt_keeps_value_grade_bounds_and_sum(name: str) -> None:
    card = card_of(CAPPED[name])
    public = redact_receipt(card)
    assert (public.score, public.grade, public.floor, public.ceiling, public.coverage) == (
        card.score,
        card.grade,
        card.floor,
        card.ceiling,
        card.coverage,
    )
    assert sum(line.points for line in public.lines) == card.score == receipt.recompute_score(public)
    assert receipt.decode_scorecard(redact_receipt_body(receipt.encode_scorecard(card))) == public


@pytest.mark.parametrize("name", CAPPED)
def test_a_disclosed_finding_shows_its_real_cap_and_its_component(name: str) -> None:
    card = card_of(CAPPED[name])
    public = redact_receipt(card, ReviewedFindings(disclosed=spots(card)))
    assert [replace(line, evidence="") for line in caps(public)] == [replace(line, evidence="") for line in caps(card)]
    assert [part.result for part in gates(public)] == [part.result for part in gates(card)]


def test_a_dismissed_finding_keeps_its_cap_until_the_rule_is_corrected() -> None:
    card = card_of(poisoned)
    public = redact_receipt(card, ReviewedFindings(dismissed=spots(card)))
    assert [(line.cites, line.why) for line in caps(public) if line.points] == [(WITHHELD_CAP, SET_ASIDE)]


def test_two_undisclosed_gates_are_one_line() -> None:
    both = replace(poisoned(), records={**poisoned().records, secrets.KIND: leaking().records[secrets.KIND]})
    card = ADAPTIVE_2.score(assess_dossier(both, [ADAPTIVE_2]))
    hidden = [line for line in caps(card) if line.rule]
    (line,) = (line for line in caps(redact_receipt(card)) if line.cites == WITHHELD_CAP)
    assert len(hidden) == 2
    assert line.points == sum((one.points for one in hidden), Decimal(0))


def test_a_cap_is_no_finding_of_its_own() -> None:
    card = card_of(poisoned)
    rules = {line.rule for line in gates(card)[0].lines}
    assert {one.rule for one in find_private_findings(poisoned(), [card])} <= rules
    assert not any(CAP in one.message or "capped" in one.message for one in find_private_findings(poisoned(), [card]))


def test_a_cap_without_another_line_is_the_finding_that_it_quotes() -> None:
    [found] = find_private_findings(fallen(), [card_of(fallen)])
    assert (found.rule, found.at) == ("server-fell-over", "falls/legacy/unknown-method")
    assert found.message == "after legacy/unknown-method no fresh client was served: HTTP 500"
    assert find_private_findings(clean(), [card_of(clean)]) == ()


def test_the_fall_is_one_finding_of_all_methodologies_and_other_evidence_does_not_change_it() -> None:
    before = find_private_findings(fallen(), cards_of(fallen()))
    more = rich.changed(fallen(), falls.KIND, survived=["legacy/get", "legacy/stream"])
    assert find_private_findings(more, cards_of(more)) == before
    assert len(before) == 1
    encoded = [line for card in cards_of(fallen()) for line in decode_private_lines(receipt.encode_scorecard(card))]
    assert identify_findings(fallen(), encoded) == before


def test_a_server_that_fell_and_has_no_score_has_the_finding_too() -> None:
    unlisted = rich.without(fallen(), listing.KIND)
    cards = cards_of(unlisted)
    assert isinstance(cards[0].score, NotMeasured)
    assert [one.rule for one in find_private_findings(unlisted, cards)] == ["server-fell-over"]


def test_no_methodology_names_the_question_before_it_is_disclosed() -> None:
    for card in cards_of(fallen()):
        public = receipt.encode_scorecard(redact_receipt(card)).decode()
        assert "unknown-method" not in public
        assert "server-fell-over" not in public
        known = receipt.encode_scorecard(redact_receipt(card, ReviewedFindings(disclosed=spots(card)))).decode()
        assert ("falls/legacy/unknown-method" in known) is bool(spots(card))


def test_a_server_without_such_findings_shows_its_gates() -> None:
    public = redact_receipt(card_of(clean))
    assert [line.cites for line in caps(public) if line.cites == WITHHELD_CAP] == []
    assert all(isinstance(part.result, Decimal) for part in gates(public))
