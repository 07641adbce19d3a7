"""Interviews that stop early: nothing rises, no tier is given, and receipts say how many checks are open."""

from __future__ import annotations

from functools import cache

import pytest
from msgspec.structs import replace

from evidence.kinds import exchanges
from evidence.model import Dossier
from scoring.engine.assess import assess_dossier
from scoring.engine.rule import Rule, discover_rules
from scoring.example_builders.conversation import legacy_exchange, modern_exchange
from scoring.protocol import conformance
from scoring.protocol.conformance import Verdict
from scoring.results.outcome import NotMeasured, Undecided
from scoring.results.scorecard import Scorecard
from scoring.rubrics.adaptive_verdict import ADAPTIVE_2
from scoring.rubrics.sdk_tier import SDK_TIER_1
from scoring.scopes.conversation import LEFT_OUT, RISKY_STEPS, Conversation
from tests.dossiers import recorded
from tests.publish.capped import clean, fallen
from tests.scoring.degradations import body_of, with_body
from tests.scoring.dossiers import GOOD_TOOL, dossier, listed, talked

LOST = {"500": (500, None), "not collected": (None, "not_collected")}
OPENED = legacy_exchange("initialize", result={"protocolVersion": "2025-11-25", "capabilities": {}})
LOST_PING = legacy_exchange("ping", status=None, failure=("timeout", "no answer"))


def stopped(evidence: Dossier, at: int, way: str) -> Dossier:
    """The dossier of a server of which every question from `at` on was lost."""
    body = body_of(evidence, exchanges.KIND)
    status, reason = LOST[way]
    for exchange in body["exchanges"][at:]:
        failure = {"reason": reason, "detail": ""} if reason else None
        exchange.update(status=status, failure=failure, received=[], form="none", headers={}, batch=False)
    alive = {exchange["connection"] for exchange in body["exchanges"][:at]}
    for index, connection in enumerate(body["connections"]):
        if index not in alive:
            connection.update(opened=False, negotiated=None, session=None)
    return with_body(evidence, exchanges.KIND, body)


def scored(evidence: Dossier) -> tuple[Scorecard, Scorecard]:
    assessment = assess_dossier(evidence, [ADAPTIVE_2, SDK_TIER_1])
    return ADAPTIVE_2.score(assessment), SDK_TIER_1.score(assessment)


@cache
def intact(name: str) -> tuple[Scorecard, Scorecard]:
    return scored(recorded()[name])


@pytest.mark.parametrize("way", LOST)
@pytest.mark.parametrize(("name", "share"), [("sdk-http", 0.02), ("sdk-http", 0.5), ("scripted-5", 0.98)])
def test_nothing_rises_when_the_interview_stops(name: str, share: float, way: str) -> None:
    whole = recorded()[name]
    at = int(len(body_of(whole, exchanges.KIND)["exchanges"]) * share)
    verdict, tier = scored(stopped(whole, at, way))
    before, _ = intact(name)
    assert verdict.floor <= before.floor
    floors = [{part.name: part.floor for part in card.dimensions[0].components} for card in (before, verdict)]
    assert all(floors[1][part] <= floor for part, floor in floors[0].items())
    assert isinstance(tier.score, NotMeasured)
    assert (tier.grade, tier.score.reason) == (None, "failed_in_probe" if way == "500" else "unfinished")
    assert any("could not be finished and count as failed" in caveat for caveat in verdict.caveats)
    assert not any("could not be finished" in caveat for caveat in before.caveats)


@pytest.mark.parametrize(
    "declared", [rule for rule in discover_rules().values() if rule.to_the_end], ids=lambda rule: rule.id
)
def test_a_rule_about_everything_that_is_sent_is_undecided_where_the_interview_stopped(declared: Rule) -> None:
    for example in declared.good:
        assert isinstance(example, Conversation)
        talk = example.recorded
        lost = replace(talk.exchanges[-1], index=len(talk.exchanges), status=None, failure="timeout", received=())
        longer = replace(example, recorded=talk.with_exchanges([*talk.exchanges, lost]))
        with pytest.raises(Undecided, match="nothing was answered from"):
            list(declared(longer))
        answered = replace(longer, recorded=talk.with_exchanges([lost, *talk.exchanges]))
        assert not any(isinstance(answer, str | tuple) for answer in declared(answered))


def test_a_violation_before_the_stop_stays_a_violation() -> None:
    talk = talked(
        OPENED, legacy_exchange("ping", sent={"id": 1}, message={"jsonrpc": "2.0", "id": 9, "result": {}}), LOST_PING
    )
    found = {one.check.requirement.id: one.verdict for one in conformance.evaluate_checks(assess_dossier(talk))}
    assert found["JSON-01"] is Verdict.FAIL
    assert found["JSON-02"] is Verdict.INCONCLUSIVE


def test_a_list_that_was_cut_passes_no_check_of_its_entries() -> None:
    cut = {"declared": True, "end": "error", "error": {"code": -32603}, "pages": [{"tools": [GOOD_TOOL]}]}
    verdicts = {}
    for name, part in (("whole", [GOOD_TOOL]), ("cut", cut)):
        assessment = assess_dossier(dossier(listed=listed(tools=part)), [SDK_TIER_1])
        found = {one.check.requirement.id: one.verdict for one in conformance.evaluate_checks(assessment)}
        verdicts[name] = found["TOOL-05"]
    assert verdicts == {"whole": Verdict.PASS, "cut": Verdict.INCONCLUSIVE}


@pytest.mark.parametrize(("asked", "at"), [(24, 23), (24, 24), (3, 1)])
@pytest.mark.parametrize("way", LOST)
def test_a_violation_is_not_hidden_by_a_stop_before_it(asked: int, at: int, way: str) -> None:
    body = body_of(recorded()["scripted-0"], exchanges.KIND)
    for received in body["exchanges"][asked]["received"]:
        received["message"]["id"] = "another"
    broken = with_body(recorded()["scripted-0"], exchanges.KIND, body)
    assert scored(stopped(broken, at, way))[0].floor <= scored(broken)[0].floor


def without_risky_questions(evidence: Dossier) -> Dossier:
    """The dossier of a server that fell, or looks like one that falls."""
    body = body_of(evidence, exchanges.KIND)
    body["exchanges"] = [one for one in body["exchanges"] if one["step"] not in RISKY_STEPS]
    return with_body(evidence, exchanges.KIND, body)


@pytest.mark.parametrize("name", ["scripted-0", "control-modern"])
def test_questions_that_the_probe_leaves_out_give_no_tier_and_cost_no_points(name: str) -> None:
    verdict, tier = scored(without_risky_questions(recorded()[name]))
    assert isinstance(tier.score, NotMeasured)
    assert (tier.grade, tier.score.reason) == (None, "unfinished")
    (conformance_part,) = (part for part in verdict.dimensions[0].components if part.name == "conformance")
    assert conformance_part.floor == conformance_part.ceiling
    assert any("count neither as passed nor as failed" in caveat for caveat in verdict.caveats)
    assert not any("neither as passed" in caveat for caveat in intact(name)[0].caveats)


def test_a_recorded_fall_gives_no_tier_whatever_else_was_asked() -> None:
    (whole, before), (_, after) = scored(clean()), scored(fallen())
    assert (before.grade, whole.grade) != (None, None)
    assert isinstance(after.score, NotMeasured)
    assert (after.grade, after.score.reason) == (None, "unfinished")
    assert "the server fell" in after.score.detail
    assert [(line.rule, line.points) for line in after.lines] == [("server-fell-over", 0)]


@pytest.mark.parametrize(("session", "verdict"), [(None, "not_applicable"), ({"visible": True}, "inconclusive")])
def test_the_end_of_a_session_is_left_out_only_where_there_is_one(session: object, verdict: str) -> None:
    asked = [legacy_exchange(step, result={}, session=session) for step in ("initialize", "initialized", "ping")]
    asked.append(legacy_exchange("version-missing", result={}, session=session))
    found = {one.check.requirement.id: one for one in conformance.evaluate_checks(assess_dossier(talked(*asked)))}
    assert (found["SESS-04"].verdict, found["JSON-04"].why) == (verdict, LEFT_OUT)


@pytest.mark.parametrize(("transport", "unfinished"), [("stdio", False), ("streamable-http", True)])
def test_a_line_that_is_no_message_needs_an_answer_only_where_it_has_one_of_its_own(
    transport: str, unfinished: bool
) -> None:
    silent = {"failure": ("timeout", "no answer within 2 s"), "status": None, "transport": transport}
    asked = (OPENED, legacy_exchange("ping", result={}), legacy_exchange("malformed", **silent), OPENED)
    evidence = talked(*({**one, "transport": transport} for one in asked))
    _, card = scored(evidence)
    assert any("JSON-03" in caveat for caveat in card.caveats) is unfinished
    assert any("JSON-03" in line.why for line in card.lines) is unfinished


def test_a_server_of_another_transport_leaves_no_question_out() -> None:
    refused = [
        legacy_exchange("initialize", opened=False, status=404),
        modern_exchange("discover", opened=False, status=404),
    ]
    asked = [legacy_exchange(step, transport="sse", result={}) for step in ("initialize", "initialized")]
    asked.append(legacy_exchange("unknown-method", transport="sse", error={"code": -32601}))
    assessment = assess_dossier(talked(*refused, *asked))
    assert not [one for one in conformance.evaluate_checks(assessment) if one.why == LEFT_OUT]
