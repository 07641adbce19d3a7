"""A server of HTTP+SSE is asked under a foreign origin and host name, and judged as one over streamable HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from evidence.model import TargetType
from scoring.protocol.conformance import Verdict
from tests.conformance.probing import Probed, look, prober
from tests.crawler.collectors.protocol.probing import remote
from tests.crawler.collectors.protocol.test_sse_redirects import Redirecting
from tests.servers.hostile import Call, serving

OPEN: Mapping[str, int] = {}
GUARDED = {"foreign origin": 403, "foreign host": 421}
OTHERWISE = {"foreign origin": 400, "foreign host": 404}
WITHOUT_ORIGINS = {"foreign origin": 403, "own origin": 403, "foreign host": 421}


class Guarded(Redirecting):
    """Answers questions with these HTTP statuses. `forgetful`: after a refusal the session has ended."""

    def __init__(self, refusals: Mapping[str, int], *, forgetful: bool = False) -> None:
        super().__init__(locations={})
        self.asked: list[str] = []
        self._refusals = refusals
        self._forgetful = forgetful
        self._ended = False

    async def __call__(self, call: Call) -> None:
        """Answer one request; the stream is where the target is."""
        call.path = call.path.replace("/mcp", "/mcp/", 1) if call.verb == "GET" else call.path
        own = f"http://127.0.0.1:{call.headers['host'].rpartition(':')[2]}"
        origin, host = call.headers.get("origin"), call.headers["host"].partition(":")[0]
        kind = "own origin" if origin == own else "foreign origin" if origin else ""
        kind = kind or ("" if host == "127.0.0.1" else "foreign host")
        self.asked += [kind] if kind else []
        if status := 404 if self._ended else self._refusals.get(kind):
            self._ended |= self._forgetful
            await call.reply(status)
        else:
            await super().__call__(call)


def probe_sse(server: Guarded) -> Probed:
    async def run() -> Probed:
        async with serving(server) as url:
            return await look(prober(), remote(url, TargetType.SSE))

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("refusals", "forgetful", "origin", "host"),
    [
        (OPEN, False, Verdict.FAIL, Verdict.WARN),
        (GUARDED, False, Verdict.PASS, Verdict.PASS),
        (OTHERWISE, False, Verdict.PASS, Verdict.PASS),
        ({"foreign host": 421}, False, Verdict.FAIL, Verdict.PASS),
        ({"foreign origin": 403}, False, Verdict.PASS, Verdict.WARN),
        (WITHOUT_ORIGINS, False, Verdict.WARN, Verdict.INCONCLUSIVE),
        (GUARDED, True, Verdict.INCONCLUSIVE, Verdict.INCONCLUSIVE),
    ],
    ids=["open", "guarded", "other statuses", "origin unread", "host unread", "every origin refused", "forgetful"],
)
def test_a_server_passes_if_it_refuses_what_is_foreign_and_serves_its_own_origin(
    refusals: Mapping[str, int], forgetful: bool, origin: Verdict, host: Verdict
) -> None:
    verdicts = probe_sse(Guarded(refusals, forgetful=forgetful)).verdicts()

    assert (verdicts["HTTP-03"].verdict, verdicts["HTTP-14"].verdict) == (origin, host)


def test_each_question_is_one_post_on_the_session_before_those_that_may_end_it() -> None:
    server = Guarded(GUARDED)

    steps = [one.step for one in probe_sse(server).talk()]

    assert server.asked == ["foreign host", "own origin", "foreign origin"]
    assert steps.index("post-origin") < steps.index("unknown-method") < steps.index("malformed")


def test_a_server_that_ends_a_session_after_a_refusal_is_accused_of_nothing_else() -> None:
    assert set(probe_sse(Guarded(GUARDED, forgetful=True)).failed()) == set(probe_sse(Guarded(GUARDED)).failed())
