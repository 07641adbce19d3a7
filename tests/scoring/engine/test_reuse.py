"""A scorecard made from an earlier one equals the one that scoring the whole dossier gives, byte for byte."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from msgspec.structs import replace

from evidence.kinds import drift, listing, registration, samples
from evidence.model import Absent, Dossier, Observed, Reason
from scoring.engine import catalogue, reuse
from scoring.engine.assess import ask_questions, assess_dossier
from scoring.engine.evidence_kinds import kinds_of_question
from scoring.engine.reuse import CONFINED, find_stale_questions
from scoring.engine.rubric import Rubric
from scoring.engine.walk import Pages
from scoring.receipt import decode_stored_scorecard, encode_scorecard, replace_moment
from scoring.results.outcome import Measured, NotMeasured
from scoring.rubrics import adaptive_gates
from scoring.rubrics.adaptive_verdict import CEILINGS
from tests.dossiers import AS_OF, captures, cases, recorded
from tests.sampling import some
from tests.scoring.dossiers import GOOD_TOOL, dossier, listed
from tests.scoring.rich import DRIFT, RICH, adding
from tests.scoring.test_stability import with_samples
from tests.scoring.test_unfinished import stopped

DATED = [rubric for rubric in catalogue.list_rubrics() if rubric.dated]
CUT = {"declared": True, "end": "failed", "error": "timeout", "pages": []}


def replaced_by_source() -> Dossier:
    """A server of which one list broke off, so that its tools are judged from its source."""
    known = RICH["well-kept"]()
    record = replace(known.records[listing.KIND], content=listed(GOOD_TOOL, prompts=CUT))
    return replace(known, records={**known.records, listing.KIND: record})


DOSSIERS = {
    **captures(),
    **cases(),
    **{name: make() for name, make in RICH.items()},
    "stopped": stopped(recorded()["sdk-http"], 20, "500"),
    "replaced": replaced_by_source(),
    "locked": dossier(listed=Absent(Reason.OAUTH_REQUIRED, "401")),
}
ALARM = {
    "at": "tools/a",
    "what": "changed",
    "before": "0" * 16,
    "after": "1" * 16,
    "escalations": ["asks-for-credential"],
}
WINDOWS: list[Mapping[str, Any]] = [
    {"successes": 0, "failures": {"timeout": 4}, "samples": 4},
    {"successes": 2, "failures": {}, "samples": 2},
    {"successes": 9, "failures": {"5xx": 3}, "samples": 12},
]


def nights(first: Dossier) -> list[Dossier]:
    """The same server on later nights: other samples, another comparison of its listing, and more or less time."""
    windows = [adding(first, {samples.KIND: {"window_days": 30, "days": 2, **each}}) for each in WINDOWS]
    compared = adding(windows[-1], {drift.KIND: {**DRIFT, "alarm": True, "changes": [ALARM]}})
    unseen = with_samples(compared, Absent(Reason.COLLECTOR_OFFLINE, "no network"))
    every = [first, *windows, compared, unseen]
    return [
        replace(each, as_of=AS_OF + timedelta(days=days))
        for each, days in zip(every, (1, 0, 2, 90, 400, 2000), strict=True)
    ]


def changes(one: Dossier, other: Dossier) -> frozenset[str]:
    digests = [{kind: record.digest for kind, record in each.records.items()} for each in (one, other)]
    return frozenset(
        kind for kind in digests[0].keys() | digests[1].keys() if digests[0].get(kind) != digests[1].get(kind)
    )


def anew(rubric: Rubric, evidence: Dossier) -> bytes:
    return encode_scorecard(rubric.score(assess_dossier(evidence, [rubric])))


def revised(rubric: Rubric, before: Dossier, after: Dossier) -> bytes | None:
    """The later receipt from the earlier one; None where the whole has to be scored."""
    earlier = anew(rubric, before)
    stale = find_stale_questions(rubric, after, changes(before, after), before.as_of)
    if stale is None or rubric.revise is None:
        return None
    if not stale:
        return replace_moment(earlier, after.as_of)
    card = rubric.revise(decode_stored_scorecard(earlier), ask_questions(after, stale))
    return None if card is None else encode_scorecard(card)


@pytest.mark.parametrize("name", some(DOSSIERS, 25, besides=[*RICH, "locked", "replaced", "stopped"]))
@pytest.mark.parametrize("rubric", DATED, ids=lambda rubric: rubric.name)
def test_a_revised_scorecard_is_what_scoring_anew_gives(rubric: Rubric, name: str) -> None:
    for before, after in pairwise(nights(DOSSIERS[name])):
        whole = anew(rubric, after)
        assert revised(rubric, before, after) in {None, whole}
        if rubric.id == "adaptive" and rubric.version == 1:
            assert revised(rubric, before, after) == whole, "it has no caps, so every receipt can be revised"


@pytest.mark.parametrize("rubric", DATED, ids=lambda rubric: rubric.name)
def test_other_samples_of_a_server_with_a_score_ask_only_about_stability(rubric: Rubric) -> None:
    _, before, after, *_ = nights(RICH["well-kept"]())
    stale = find_stale_questions(rubric, replace(after, as_of=before.as_of), frozenset({samples.KIND}), before.as_of)
    assert stale
    assert {kind for question in stale for kind in kinds_of_question(question)} == {samples.KIND}
    assert revised(rubric, before, after) == anew(rubric, after)


@pytest.mark.parametrize("rubric", DATED, ids=lambda rubric: rubric.name)
def test_other_samples_of_a_server_without_a_score_revise_its_receipt(rubric: Rubric) -> None:
    before, after, *_ = nights(DOSSIERS["locked"])
    assert decode_stored_scorecard(anew(rubric, before)).grade is None
    assert revised(rubric, before, after) == anew(rubric, after)


def test_a_receipt_without_its_caps_is_not_revised_to_one_with_a_score() -> None:
    """Such as one of a server of which too little was measured until it was observed long enough."""
    (rubric,) = (one for one in DATED if one.version == 2)
    _, before, after, *_ = nights(RICH["well-kept"]())
    earlier = decode_stored_scorecard(anew(rubric, before))
    stale = find_stale_questions(rubric, after, changes(before, after), before.as_of)
    assert stale
    assert rubric.revise is not None
    unscored = replace(earlier, score=NotMeasured("not_enough_evidence"), lines=())
    assert rubric.revise(unscored, ask_questions(after, stale)) is None


@pytest.mark.parametrize("rubric", DATED, ids=lambda rubric: rubric.name)
def test_time_alone_asks_again_what_has_aged(rubric: Rubric) -> None:
    first = RICH["well-kept"]()
    assert find_stale_questions(rubric, first, frozenset(), first.as_of) == ()
    later = replace(first, as_of=AS_OF + timedelta(days=900))
    assert {"commits-ceased"} <= {
        question.rule for question in find_stale_questions(rubric, later, frozenset(), AS_OF) or ()
    }
    assert revised(rubric, first, later) == anew(rubric, later) != replace_moment(anew(rubric, first), later.as_of)


def test_without_the_evidence_that_holds_the_date_a_dated_question_is_not_measured() -> None:
    """Only then can its outcome not change with time alone."""
    for rubric in DATED:
        for question, kind in reuse._find_reading(rubric.questions).dated.items():
            known = RICH["sourced" if question.pages is Pages.SOURCE else "well-kept"]()
            assert isinstance(ask_questions(known, (question,)).outcomes[question], Measured), question
            blind = replace(known, records={name: each for name, each in known.records.items() if name != kind})
            assert isinstance(ask_questions(blind, (question,)).outcomes[question], NotMeasured), question


def test_a_change_that_may_decide_a_cap_is_scored_as_a_whole() -> None:
    for rubric in DATED:
        for kind in ("listing", "exchanges", "access", "secrets", "advisories", registration.KIND):
            assert find_stale_questions(rubric, RICH["well-kept"](), frozenset({kind}), AS_OF) is None


class Unconfined(Dossier, frozen=True):
    """A dossier that must not be asked for kinds that decide components alone."""

    def read(self, kind: str) -> Observed | Absent:
        """Refuse them."""
        assert kind not in CONFINED
        return Dossier.read(self, kind)


def test_no_cap_reads_what_is_said_to_decide_components_alone() -> None:
    for rubric in DATED:
        for rule in {rule for cap in (rubric.method.caps if rubric.method else ()) for rule in cap.rules}:
            assert not any(kinds_of_question(one) & CONFINED for one in rubric.questions if one.rule == rule)
    for evidence in DOSSIERS.values():
        assessed = assess_dossier(evidence)
        guarded = Unconfined(server=evidence.server, as_of=evidence.as_of, records=evidence.records)
        list(adaptive_gates.list_caps(replace(assessed, dossier=guarded), CEILINGS))
