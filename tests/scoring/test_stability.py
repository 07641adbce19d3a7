"""What attempts to connect do to a score, and when they say nothing."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

import pytest
from msgspec.structs import replace

from evidence.kinds import samples
from evidence.kinds.samples import Sample, compose_samples
from evidence.model import Absent, Dossier, Observed, Reason, Record
from scoring.engine.assess import assess_dossier
from scoring.results.outcome import NotMeasured
from scoring.results.scorecard import ComponentScore, DimensionScore, Scorecard
from scoring.rubrics.adaptive import ADAPTIVE_1
from tests.dossiers import AS_OF
from tests.scoring.dossiers import GOOD_ENTRY, GOOD_TOOL, dossier, entered, listed

LOCKED = Absent(Reason.OAUTH_REQUIRED, "HTTP 401 with a Bearer challenge")
DOWN = Absent(Reason.UNREACHABLE, "connection refused")


def scored(*failures: str, listing: Observed | Absent | None = None) -> Scorecard:
    """The card of a server that was connected to once an hour, and how each attempt ended."""
    taken = [Sample(at=AS_OF - timedelta(hours=at), failure=failure) for at, failure in enumerate(failures)]
    known = dossier(listed=listing or listed(GOOD_TOOL), registered=entered(GOOD_ENTRY))
    return ADAPTIVE_1.score(assess_dossier(with_samples(known, compose_samples(taken)), [ADAPTIVE_1]))


def with_samples(known: Dossier, content: Observed | Absent) -> Dossier:
    record = Record(
        server=known.server.id,
        kind=samples.KIND,
        schema=samples.SCHEMA,
        collector="protocol",
        collector_version=1,
        observed_at=AS_OF,
        content=content,
    )
    return replace(known, records={**known.records, samples.KIND: record})


def reliability(card: Scorecard) -> DimensionScore:
    return next(part for part in card.dimensions if part.name == "reliability")


def stability(card: Scorecard) -> ComponentScore:
    return next(part for part in reliability(card).components if part.name == "stability")


def test_the_share_of_failed_attempts_is_the_loss() -> None:
    found = stability(scored("", "", "", "", "", "", "timeout", "5xx"))
    assert (found.result, found.checked) == (Decimal("7.5"), 8)
    assert [line.why for line in found.lines] == [
        "the server did not answer in time",
        "the server answered with an HTTP 5xx",
    ]


def test_a_failed_attempt_more_never_raises_a_score() -> None:
    cards = [scored(*[""] * (10 - bad), *["unreachable"] * bad) for bad in range(11)]
    scores = [card.score for card in cards if isinstance(card.score, Decimal)]
    assert len(scores) == len(cards)
    assert scores == sorted(scores, reverse=True)
    assert stability(cards[-1]).result == 0


@pytest.mark.parametrize("ends", [("",), ("", "timeout"), ("tls_error", "5xx")])
def test_fewer_than_three_attempts_say_nothing(ends: tuple[str, ...]) -> None:
    card = scored(*ends)
    assert isinstance(stability(card).result, NotMeasured)
    assert card.score == scored_without().score
    assert any("too few attempts" in caveat for caveat in card.caveats)


def scored_without() -> Scorecard:
    known = dossier(listed=listed(GOOD_TOOL), registered=entered(GOOD_ENTRY))
    return ADAPTIVE_1.score(assess_dossier(known, [ADAPTIVE_1]))


def test_a_card_states_its_number_of_attempts() -> None:
    assert scored("", "", "", "5xx").facts["samples"] == "4"
    assert scored("").facts["samples"] == "1"
    assert "samples" not in scored_without().facts


def test_a_locked_server_stays_not_testable_however_steady() -> None:
    card = scored("", "", "", listing=LOCKED)
    assert reliability(card).result == NotMeasured("oauth_required", "HTTP 401 with a Bearer challenge")
    assert reliability(card).status == "not_testable"
    assert (str(stability(card).floor), str(stability(card).ceiling)) == ("0", "10")


def test_a_server_that_is_down_night_after_night_is_not_reliable() -> None:
    card = scored("unreachable", "unreachable", "timeout", "", listing=DOWN)
    assert reliability(card).result == Decimal("2.5")


def test_an_error_of_ours_is_no_sign_of_stability() -> None:
    card = scored("", "", "", listing=Absent(Reason.COLLECTOR_ERROR, "KeyError"))
    assert isinstance(reliability(card).result, NotMeasured)
