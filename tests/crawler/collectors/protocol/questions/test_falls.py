"""A probe notices that a server refuses every client, stops, records the question, and does not ask it again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID as Identifier

import pytest
from msgspec.structs import replace

from crawler.collectors.protocol.questions.inquiries import Inquiry, Risk, ServerFacts
from crawler.collectors.protocol.questions.legacy import http_openings, legacy_inquiries, malformed_inquiry
from crawler.collectors.protocol.questions.modern import modern_inquiries
from crawler.collectors.protocol.questions.selection import QuestionSelection
from crawler.mcp.channel import Era
from evidence.kinds.falls import KIND, Falls
from evidence.kinds.samples import Samples
from evidence.model import Absent, Dossier, Observed, Record, Server, TargetType
from scoring.engine.assess import assess_dossier
from scoring.engine.assessment import Assessment
from scoring.protocol.conformance import Verdict, evaluate_checks
from scoring.results.outcome import NotMeasured
from scoring.rubrics.sdk_tier import SDK_TIER_1
from scoring.scopes.conversation import LEFT_OUT, RISKY_STEPS
from tests.crawler.collectors.protocol.probing import collector, records_of, remote, talk
from tests.servers.hostile import OPENING, Call, Mcp, serving

UUID = Identifier(int=0x1234567890ABCDEF1234567890ABCDEF)


@dataclass
class Fragile:
    """A server that answers as `state` says to everything after a question that `breaks` it, `recovers` excepted."""

    breaks: str = "unknown"
    state: int = 500
    recovers: int = 0  # openings after which it serves again; 0: never
    version: str = "1.0.0"
    revision: str = "2025-11-25"
    fallen: bool = False
    refused: int = 0
    methods: list[str] = field(default_factory=list)

    async def __call__(self, call: Call) -> None:
        """Answer one request."""
        self.methods.append(call.method or call.verb)
        if self.fallen and self.recovers and self.refused >= self.recovers:
            self.fallen = False
        if self.fallen:
            self.refused += 1
            await call.reply(self.state, b"Internal Server Error")
            return
        known = call.method in {"initialize", "server/discover", "ping", "tools/list", "tools/call", "initialized"}
        self.fallen = {
            "unknown": call.verb == "POST" and "id" in (call.message or {}) and not known,
            "discover": call.method == "server/discover",
            "malformed": call.verb == "POST" and not call.message,
            "opening": b'"protocolVersion":"2024-11-05"' in call.body,
            "nothing": False,
        }[self.breaks]
        server = {"name": "fixture", "version": self.version}
        able = {"tools": {}, "experimental": {}}
        opening = {**OPENING, "protocolVersion": self.revision, "serverInfo": server, "capabilities": able}
        await (call.reply(500) if self.fallen else Mcp(opening=opening)(call))


def probe_full(
    server: Fragile, earlier: Mapping[str, Record] | None = None, chosen: QuestionSelection | None = None
) -> dict[str, Record]:
    async def run() -> dict[str, Record]:
        async with serving(server) as url:
            probing = collector(depth="core" if chosen else "full", chosen=chosen)
            return await records_of(probing, remote(url), earlier=earlier)

    return asyncio.run(run())


def assess(records: Mapping[str, Record]) -> Assessment:
    server = Server(ref="streamable-http:http://127.0.0.1", name="x", targets=(remote("http://127.0.0.1"),))
    return assess_dossier(Dossier(server=server, as_of=datetime(2026, 3, 1, tzinfo=UTC), records=records), [SDK_TIER_1])


def read_falls(records: Mapping[str, Record]) -> Falls:
    content = records[KIND].content
    assert isinstance(content, Observed)
    return Falls.parse(content.body)


@pytest.mark.parametrize(
    ("breaks", "question"),
    [
        ("unknown", "legacy/unknown-method"),
        ("opening", "legacy/initialize-2024-11-05"),
        ("malformed", "legacy/malformed"),
    ],
)
def test_the_question_after_which_nobody_is_served_is_recorded_and_is_the_last(breaks: str, question: str) -> None:
    server = Fragile(breaks)
    [fall] = read_falls(probe_full(server)).falls
    assert fall.question == question
    assert fall.signs[-2:] == ("HTTP 500", "HTTP 500")
    assert server.methods[-2:] == ["initialize", "initialize"]


def test_a_fall_is_a_failed_attempt_to_connect() -> None:
    content = probe_full(Fragile())["samples"].content
    assert isinstance(content, Observed)
    assert Samples.parse(content.body).failures == {"5xx": 1}


def test_a_transcript_does_not_tell_after_which_question_a_server_fell() -> None:
    transcripts = [talk(probe_full(Fragile(breaks))) for breaks in ("unknown", "opening", "malformed")]
    steps = [[(one.step, one.status, one.failure) for one in each.exchanges] for each in transcripts]
    assert steps[0] == steps[1] == steps[2]
    assert "ping" in {step for step, _, _ in steps[0]}
    assert all(each.connections == transcripts[0].connections for each in transcripts)


def test_the_public_observation_does_not_tell_it_either() -> None:
    records = probe_full(Fragile("malformed"))
    asked = json.dumps([dict(records[kind].observation) for kind in ("listing", "exchanges")], default=str)
    assert "500" not in asked
    assert "checks" not in asked


def test_a_server_that_falls_at_the_first_modern_question_is_not_asked_it_again() -> None:
    first, second = Fragile("discover"), Fragile("discover")
    records = probe_full(first)
    assert [fall.question for fall in read_falls(records).falls] == ["modern/discover"]
    assert not list(talk(records).of("discover"))
    again = probe_full(second, records)
    assert not second.fallen
    assert {one.step for one in talk(again).exchanges} >= {"list-tools", "ping"}


def test_a_server_that_serves_again_after_the_pause_has_not_fallen() -> None:
    found = read_falls(probe_full(Fragile(recovers=1)))
    assert found.falls == ()
    assert "legacy/unknown-method" in found.survived


def test_a_server_that_survives_is_asked_everything_and_left_without_a_session() -> None:
    records = probe_full(Fragile("nothing"))
    assert read_falls(records).falls == ()
    steps = {one.step for one in talk(records).exchanges}
    assert {"unknown-method", "stream", "initialize-2024-11-05", "malformed"} <= steps
    assert all(one.failure != "not_collected" for one in talk(records).exchanges)


@pytest.mark.parametrize(
    "server",
    [Fragile(), Fragile("discover"), Fragile("malformed"), Fragile(revision="2025-03-26")],
    ids=["fell", "fell at once", "fell last", "looks like one that falls"],
)
def test_checks_of_questions_that_were_left_out_are_open_and_give_no_tier(server: Fragile) -> None:
    assessment = assess(probe_full(server))
    left_out = {
        one.check.requirement.id
        for one in evaluate_checks(assessment)
        if one.verdict is Verdict.INCONCLUSIVE and one.why == LEFT_OUT
    }
    assert left_out >= {"HTTP-11", "LIFE-02", "LIFE-03", "JSON-03", "JSON-04", "CAP-02", "CAP-03"}
    tier = SDK_TIER_1.score(assessment)
    assert isinstance(tier.score, NotMeasured)
    assert (tier.grade, tier.score.reason) == (None, "unfinished")
    assert "fell" in tier.score.detail
    assert not any(question in tier.score.detail for question in ("unknown", "discover", "malformed"))


def test_no_check_of_a_server_that_survives_was_left_out() -> None:
    assessment = assess(probe_full(Fragile("nothing")))
    assert LEFT_OUT not in {one.why for one in evaluate_checks(assessment)}
    assert isinstance(SDK_TIER_1.score(assessment).score, Decimal)


def test_the_rules_know_which_questions_are_risky() -> None:
    facts = ServerFacts(era=Era.LEGACY, capabilities={}, origin="http://127.0.0.1:1", local=True)
    modern = modern_inquiries(replace(facts, era=Era.MODERN, listen=True), "0", lambda: 1)
    legacy = (*legacy_inquiries(facts, lambda: 1, lists=False), *(one for _, one in http_openings("0", facts)))
    risky = {one.step for one in (*modern, *legacy) if one.risk is Risk.RISKY}
    assert risky <= RISKY_STEPS
    assert {Inquiry(step=step).risk for step in RISKY_STEPS} == {Risk.RISKY}


def test_harmless_questions_come_first_and_every_risky_one_is_followed_by_a_fresh_opening() -> None:
    server = Fragile("nothing")
    probe_full(server)
    first_risky = next(
        at
        for at, name in enumerate(server.methods)
        if "/" in name
        and name.split("/")[0].endswith("s")
        and name not in {"tools/list", "tools/call", "notifications/initialized"}
    )
    assert "ping" in server.methods[:first_risky]
    assert server.methods[first_risky + 1] == "initialize"


def test_the_version_that_fell_is_not_asked_again_and_another_one_is() -> None:
    first = probe_full(Fragile())
    same, newer = Fragile(), Fragile(version="1.0.1")
    again = probe_full(same, first)
    assert not same.fallen
    assert [fall.question for fall in read_falls(again).falls] == ["legacy/unknown-method"]
    assert [fall.question for fall in read_falls(probe_full(newer, first)).falls] == ["legacy/unknown-method"]
    assert newer.fallen
    assert read_falls(probe_full(Fragile("nothing", version="1.0.1"), first)).falls == ()


@pytest.mark.parametrize(("breaks", "fall"), [("unknown", "legacy/unknown-method"), ("malformed", "legacy/malformed")])
def test_a_retest_does_not_take_the_version_that_fell_down_again_and_clears_a_newer_one(breaks: str, fall: str) -> None:
    """Each visitor may request a re-test: one that asks again would let them take a server down."""
    first = probe_full(Fragile(breaks))
    assert [one.question for one in read_falls(first).falls] == [fall]
    chosen = QuestionSelection.for_findings([f"falls/{fall}", "exchanges/legacy/ping"])
    same = Fragile(breaks)
    assert [one.question for one in read_falls(probe_full(same, first, chosen)).falls] == [fall]
    assert not same.fallen
    assert "ping" in same.methods
    assert read_falls(probe_full(Fragile("nothing", version="1.0.1"), first, chosen)).falls == ()


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-03-26"])
def test_a_revision_of_versions_that_fall_is_asked_nothing_risky(revision: str) -> None:
    server = Fragile(revision=revision)
    assert read_falls(probe_full(server)).falls == ()
    assert not server.fallen


@pytest.mark.parametrize(
    ("revision", "session", "ends"),
    [
        ("2024-11-05", UUID.hex, False),
        ("2025-03-26", UUID.hex, False),
        ("2025-03-26", str(UUID), True),  # not a session of the Python SDK
        ("2025-06-18", UUID.hex, True),
    ],
)
def test_a_full_probe_deletes_no_session_of_a_version_that_falls_at_that(
    revision: str, session: str, ends: bool
) -> None:
    verbs: list[str] = []

    async def run() -> None:
        async def serve(call: Call) -> None:
            verbs.append(call.verb)
            if call.method == "initialize":  # older versions are agreed to when they are offered
                agreed = min(revision, call.message["params"]["protocolVersion"])
                capabilities = {"tools": {}, "resources": {}}
                opening = {**OPENING, "protocolVersion": agreed, "capabilities": capabilities}
                await call.result(opening, ("mcp-session-id", session))
            else:
                await Mcp()(call)

        async with serving(serve) as url:
            await records_of(collector(depth="full"), remote(url))

    asyncio.run(run())
    assert ("DELETE" in verbs) is ends


def test_a_fall_outlives_that_the_server_is_down() -> None:
    first = probe_full(Fragile())
    down = probe_full(Fragile(fallen=True), first)
    assert isinstance(down["listing"].content, Absent)
    assert down[KIND].content == first[KIND].content


def test_a_server_that_refuses_fresh_clients_has_not_fallen() -> None:
    records = probe_full(Fragile(state=403))
    assert read_falls(records).falls == ()
    assert {one.failure for one in talk(records).exchanges if one.step == "malformed"} == {"not_collected"}


def test_a_core_probe_sends_nothing_that_only_some_clients_send() -> None:
    server = Fragile(revision="2025-03-26")

    async def run() -> None:
        async with serving(server) as url:
            await records_of(collector(), remote(url, TargetType.STREAMABLE_HTTP))

    asyncio.run(run())
    assert set(server.methods) <= {"initialize", "notifications/initialized", "tools/list"}


def test_every_inquiry_has_a_risk_and_openings_of_other_versions_are_risky() -> None:
    facts = ServerFacts(era=Era.LEGACY, capabilities={}, origin="http://127.0.0.1:1", local=True)
    openings = {inquiry.step: inquiry.risk for _, inquiry in http_openings("0", facts)}
    harmless = {step for step, risk in openings.items() if risk is not Risk.RISKY}
    assert harmless == {"initialize-origin", "initialize-origin-own", "initialize-host"}
    assert malformed_inquiry(lambda: 1).risk is Risk.RISKY
    risky = {one.step for one in legacy_inquiries(facts, lambda: 1, lists=False) if one.risk is Risk.RISKY}
    undeclared = {f"list-{name}-undeclared" for name in ("tools", "resources", "prompts")}
    assert risky == {"unknown-method", *undeclared}


def test_a_session_that_the_server_opened_for_a_refused_question_is_ended() -> None:
    """Python SDK 1.10 to 1.29 opens a session for any request without one, and names it in the refusal."""
    opened: dict[str, bool] = {}
    numbers = iter(range(1_000))

    async def behave(call: Call) -> None:
        session = call.headers.get("mcp-session-id")
        if call.verb == "DELETE":
            opened.pop(session or "", None)
            await call.reply(200)
        elif session in opened or call.verb != "POST":
            await Mcp()(call)
        elif session is not None:
            await call.reply(404)
        else:
            opened[new := f"{next(numbers):032x}"] = True
            if call.method == "initialize":
                await call.result({**OPENING, "protocolVersion": "2025-11-25"}, ("Mcp-Session-Id", new))
            else:
                await call.reply(400, b"Missing session ID", ("Mcp-Session-Id", new))

    async def run() -> None:
        async with serving(behave) as url:
            await records_of(collector(depth="full"), remote(url))

    asyncio.run(run())
    assert opened == {}
