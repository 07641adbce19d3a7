"""`sdk_tier@1`: the published rule to the letter, and no tier that rests on nothing."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evidence.model import Absent, Observed, Reason, Record
from scoring.engine.assess import assess_dossier
from scoring.example_builders.conversation import legacy_exchange
from scoring.explain import explain_rubric
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import Scorecard
from scoring.rubrics.sdk_tier import FAILED_IN_PROBE, KIND, SDK_TIER_1, Tier, TierInput, score_tier
from tests.dossiers import AS_OF, captures, recorded
from tests.sampling import examples
from tests.scoring.degradations import body_of, with_body
from tests.scoring.dossiers import dossier, talked

VECTORS = json.loads((Path(__file__).parents[1] / "golden" / "sdk-tier-vectors.json").read_text(encoding="utf-8"))
COUNTS = ("must_passed", "must_total", "should_passed", "should_total")


@pytest.mark.parametrize(
    "vector", VECTORS["vectors"], ids=lambda vector: "-".join(str(vector[name]) for name in COUNTS)
)
def test_tiers_are_the_published_ones(vector: dict[str, Any]) -> None:
    tier = score_tier(TierInput(**{name: vector[name] for name in COUNTS}))
    assert tier.name == vector["tier"].upper()
    assert tier.value == VECTORS["badges"][vector["tier"]]


@pytest.mark.parametrize("counts", [(2, 1, 0, 0), (-1, 1, 0, 0), (1, 1, 3, 2), (0, -1, 0, 0)])
def test_impossible_counts_are_refused(counts: tuple[int, int, int, int]) -> None:
    with pytest.raises(ValueError, match="passed <= total"):
        TierInput(**dict(zip(COUNTS, counts, strict=True)))


def test_no_must_check_is_marked_as_vacuous() -> None:
    counts = TierInput(must_passed=0, must_total=0, should_passed=0, should_total=10)
    assert counts.vacuous
    assert score_tier(counts) is Tier.TIER1


@settings(derandomize=True, max_examples=examples(200))
@given(st.integers(1, 500), st.integers(0, 500), st.data())
def test_one_more_check_that_passes_never_lowers_the_tier(must: int, should: int, data: Any) -> None:
    passed = data.draw(st.integers(0, should))
    order = [Tier.FAIL, Tier.TIER3, Tier.TIER2, Tier.TIER1]
    for level in (must, must - 1):
        now = score_tier(TierInput(must_passed=level, must_total=must, should_passed=passed, should_total=should))
        if passed < should:
            more = TierInput(must_passed=level, must_total=must, should_passed=passed + 1, should_total=should)
            assert order.index(score_tier(more)) >= order.index(now)


def test_the_percentage_is_rounded_down() -> None:
    assert TierInput(must_passed=2, must_total=3, should_passed=0, should_total=0).percentage == 66
    assert TierInput(must_passed=199, must_total=200, should_passed=0, should_total=0).percentage == 99


def test_nothing_exchanged_is_no_tier() -> None:
    for evidence in (dossier(), captures()["mcp-server-git"]):
        card = SDK_TIER_1.score(assess_dossier(evidence, [SDK_TIER_1]))
        assert isinstance(card.score, NotMeasured)
        assert (card.grade, card.coverage) == (None, 0)
    record = Record(
        server="s", kind=KIND, schema=1, collector="t", collector_version=1, observed_at=AS_OF,
        content=Absent(Reason.OAUTH_REQUIRED, "401"),
    )  # fmt: skip
    locked = dossier()
    card = SDK_TIER_1.score(
        assess_dossier(type(locked)(server=locked.server, as_of=AS_OF, records={KIND: record}), [SDK_TIER_1])
    )
    assert card.score == NotMeasured("oauth_required", "401")


def test_exchanges_without_a_must_check_never_publish_a_tier() -> None:
    record = Record(
        server="s", kind=KIND, schema=1, collector="t", collector_version=1, observed_at=AS_OF, content=Observed(b"{}")
    )
    plain = dossier()
    card = SDK_TIER_1.score(
        assess_dossier(type(plain)(server=plain.server, as_of=AS_OF, records={KIND: record}), [SDK_TIER_1])
    )
    assert isinstance(card.score, NotMeasured) or SDK_TIER_1.criteria
    assert card.grade is None


def probed(*said: dict[str, Any]) -> Scorecard:
    return SDK_TIER_1.score(assess_dossier(talked(*said), [SDK_TIER_1]))


OPENED = legacy_exchange(
    "initialize", result={"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": {"name": "a"}}
)
REFUSED = {"failure": {"reason": "unreachable", "detail": "connection refused"}, "received": [], "status": None}


@pytest.mark.parametrize(
    "failing",
    [
        legacy_exchange("ping", status=500),
        legacy_exchange("ping", status=503),
        {**legacy_exchange("ping"), **REFUSED},
    ],
)
def test_a_server_that_failed_after_it_had_answered_has_no_tier(failing: dict[str, Any]) -> None:
    before, after = probed(OPENED), probed(OPENED, failing, OPENED)
    assert isinstance(before.score, Decimal)
    assert isinstance(after.score, NotMeasured)
    assert (after.score.reason, after.grade) == (FAILED_IN_PROBE, None)
    assert after.score.detail.startswith("exchanges/legacy/ping: ")


def test_a_question_that_a_server_does_not_support_is_no_failure() -> None:
    assert isinstance(probed(OPENED, legacy_exchange("ping", status=501)).score, Decimal)


def without_answers(*steps: str) -> Scorecard:
    """The card of a recorded server of ours with every answer to these questions lost, and only to them."""
    whole = recorded()["control-dual"]
    body = body_of(whole, KIND)
    for exchange in body["exchanges"]:
        if exchange["step"] in steps:
            exchange.update(status=None, failure={"reason": "timeout", "detail": ""}, received=[], form="none")
    return SDK_TIER_1.score(assess_dossier(with_body(whole, KIND, body), [SDK_TIER_1]))


def test_an_unfinished_must_leaves_the_tier_open_and_does_not_pass() -> None:
    card = without_answers("malformed")
    assert card.grade is None
    assert isinstance(card.score, Decimal) and card.score < card.ceiling == 100
    assert card.caveats == ("not finished, so not counted as passed: JSON-03",)
    assert Decimal(card.facts["start"]) + sum(line.points for line in card.lines) == card.score


def test_an_unfinished_should_does_not_pass() -> None:
    card = without_answers("prompt-nonexistent")
    assert card.caveats == ("not finished, so not counted as passed: PROMPT-01",)
    assert (card.grade, card.score) == ("T2", 98), "16 of 17 are less than 95 per cent"


def test_a_failed_must_decides_whatever_is_unfinished() -> None:
    failing = legacy_exchange("ping", result="pong")
    card = probed(OPENED, failing, legacy_exchange("unknown-method", status=429), OPENED)
    assert card.grade == "F"


def test_what_is_tolerated_is_not_called_a_must() -> None:
    cards = [SDK_TIER_1.score(assess_dossier(evidence, [SDK_TIER_1])) for evidence in recorded().values()]
    shown = [line for card in cards for line in card.lines if not line.points and line.why.startswith("tolerated: ")]
    assert shown
    assert {line.severity for line in shown} == {"info"}
    charged = [line for card in cards for line in card.lines if line.points and line.cites != "rounding"]
    assert charged
    assert not any(line.why.startswith("tolerated") for line in charged)


def test_the_page_says_whose_tiers_these_are() -> None:
    text = str(explain_rubric("sdk_tier"))
    assert "mcptest" in text and "SEP-1730" in text and "rate SDKs" in text
