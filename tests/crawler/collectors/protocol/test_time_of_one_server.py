"""The time of one server bounds all its URLs and all their questions; its end is no failure of the server."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping

import pytest

from crawler.collectors.protocol.access.access_challenge import AccessRequest, classify_access
from crawler.collectors.protocol.probes.probe import ProbeResult
from crawler.collectors.protocol.probes.remote_probe import RemoteProbe
from crawler.collectors.protocol.session.absence_reasons import explain_opening
from crawler.collectors.protocol.session.dialogue import Dialogue, ProbeLimits, QuestionBudget
from crawler.http.engine import HttpEngine, HttpSession
from crawler.http.failures import BudgetSpent, TimedOut, WireFailure
from crawler.http.rate_limiting import HostRateLimiter
from crawler.http.url import parse_url
from crawler.mcp.channel import Era
from crawler.mcp.streamable_http import JsonRpcPost
from crawler.mcp.transcript import Exchange, Reply, Transcript
from evidence.canonical import Json
from evidence.model import Absent, Dossier, Reason, Server, Target, TargetType
from tests.crawler.collectors.protocol.probing import AGENT, NOW, Timekeeper, collector

LATE = TimedOut("no answer within 27 s")
OVER = BudgetSpent("the time for one server was over")


def reply(failure: WireFailure) -> Reply:
    return Reply(
        Exchange(transport="", method="initialize", request=b"{}", began=0, seconds=27, status=None, failure=failure)
    )


def test_all_urls_of_a_server_share_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[float] = []

    async def run(self: RemoteProbe, target: Target) -> ProbeResult:
        given.append(self.limits.total)
        return ProbeResult(listing=Absent(Reason.NOT_MCP, f"at {target.identifier}"), seconds=25)

    monkeypatch.setattr(RemoteProbe, "run", run)
    targets = [Target(type=TargetType.STREAMABLE_HTTP, identifier=f"http://{name}.example/mcp") for name in "abcd"]
    server = Server(ref="test", name="test", targets=tuple(targets))
    prober = collector(limits=ProbeLimits(total=60))

    listed, *_ = asyncio.run(prober.collect(server, Dossier(server=server, as_of=NOW)))

    assert given == [60, 35, 10]
    assert listed.content == Absent(Reason.NOT_MCP, "at http://a.example/mcp")


def test_the_last_failure_of_a_server_explains_why_it_did_not_open() -> None:
    transcript = Transcript()
    for failure in (LATE, OVER):
        transcript.add(reply(failure).exchange)

    assert explain_opening(reply(OVER), "initialize", transcript) == Absent(Reason.TIMEOUT, LATE.detail)
    assert explain_opening(reply(OVER), "initialize", Transcript()) == Absent(Reason.NOT_COLLECTED, OVER.detail)
    late, over = (AccessRequest(step="initialize", era="legacy", reply=reply(failure)) for failure in (LATE, OVER))
    assert classify_access([late, over]) == Absent(Reason.TIMEOUT, LATE.detail)


class Answering:
    """A channel that fails in the given ways, one after the other."""

    transport = "streamable-http"
    session = assigned = None

    def __init__(self, *failures: WireFailure) -> None:
        self.failures = list(failures)
        self.transcript = Transcript()

    async def send_request(
        self, method: str, params: Mapping[str, Json], era: Era, *, seconds: float | None = None
    ) -> Reply:
        answer = reply(self.failures.pop(0))
        self.transcript.add(answer.exchange)
        return answer

    def next_id(self) -> int:
        return 1

    async def send_notification(self, method: str) -> None:
        """Send nothing."""

    def set_protocol_version(self, version: str | None) -> None:
        """Ignore it."""

    async def close(self) -> None:
        """Close nothing."""


def ask(channel: Answering, hand: Timekeeper, left: Callable[[], float]) -> Reply:
    dialogue = Dialogue(
        channel,
        host="a.example",
        limiter=HostRateLimiter(tick=hand.tick, sleep=hand.sleep),
        clock=lambda: NOW,
        limits=ProbeLimits(),
        budget=QuestionBudget(9),
        transcript=channel.transcript,
        left=left,
    )
    dialogue.connect(Era.LEGACY, "2025-11-25")
    return asyncio.run(dialogue.ask("initialize", {}, Era.LEGACY))


@pytest.mark.parametrize(("left", "pauses"), [(31.9, []), (32.1, [5.0]), (math.inf, [5.0])])
def test_a_second_try_fits_into_the_time_that_is_left(left: float, pauses: list[float]) -> None:
    """After a pause of 5 s it may take as long as the first one, which took 27 s."""
    channel, hand = Answering(LATE, OVER), Timekeeper()

    found = ask(channel, hand, lambda: left)

    assert (hand.slept, found.failure) == (pauses, LATE)  # the second try, which our time ended, says nothing new


def test_a_rate_limit_beyond_the_time_that_is_left_is_not_waited_for() -> None:
    async def run() -> tuple[Reply, list[float]]:
        hand = Timekeeper()
        limiter = HostRateLimiter(tick=hand.tick, sleep=hand.sleep)
        limiter.defer("a.example", 30)
        async with HttpSession(HttpEngine(user_agent=AGENT), HttpEngine(user_agent=AGENT).guard, 20) as session:
            post = JsonRpcPost(session, parse_url("https://a.example/mcp"), limiter, Transcript())
            return await post.send("POST", "ping", b"{}", number=1), hand.slept

    found, slept = asyncio.run(run())

    assert (str(found.failure), slept) == (OVER.detail, [])


@pytest.mark.parametrize(("seconds", "total"), [(None, 60), (200, 60), (60, 30), (20, 10)])
def test_one_request_takes_at_most_half_of_the_time(seconds: float | None, total: float) -> None:
    async def run() -> float:
        engine = HttpEngine(user_agent=AGENT)
        async with engine.open_session(seconds=seconds) as session:
            return JsonRpcPost(session, parse_url("https://a.example/"), HostRateLimiter(), Transcript()).limits.total

    assert asyncio.run(run()) == total
