"""An upright server behind a bad network is blamed for nothing, whichever of its answers are lost."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping

import pytest

from crawler.collectors.protocol import ProbeLimits
from crawler.http.connection import Limits
from tests.conformance.probing import look, prober
from tests.crawler.collectors.protocol.probing import remote
from tests.sampling import some
from tests.servers.conforming import Upright
from tests.servers.hostile import Behaviour, Call, serving
from tests.servers.hostile_behaviour import OK, PAGE, STREAM, asked, gzipped, hang_up, raw, says, silence, streamed

HASTY = Limits(connect=2, first_byte=0.4, between_bytes=0.3, total=0.6)
PROBE = ProbeLimits(discover=0.4, total=20, retry_pause=0)
LOSSES: tuple[Behaviour, ...] = (
    says(429),
    says(500, PAGE, kind="text/html"),
    says(502),
    says(503, b"", ("Retry-After", "1")),
    says(408),
    hang_up,
    silence,
)
# These come under 200, which to a notification, a malformed text or a DELETE would be an answer by itself.
CUT: tuple[Behaviour, ...] = (
    gzipped(),
    raw(OK + b"Content-Length: 100\r\n\r\n{"),
    raw(OK + b"\r\n[", b"0," * 32_768, then="repeat"),
    raw(STREAM),
    raw(STREAM, b": ping\n\n"),
)
SERVERS: Mapping[str, Upright] = {
    "dual": Upright(),
    "legacy": Upright(modern=False),
    "modern": Upright(legacy=False),
}


def losing(seed: int, era: str) -> Behaviour:
    """An upright server of which some answers are lost, more with some seeds than with others."""
    chance = random.Random(seed)
    share = chance.choice([0.0, 0.05, 0.2, 0.5])
    upright = Upright(SERVERS[era].legacy, SERVERS[era].modern)
    inner = streamed(inner=upright) if chance.random() < 0.3 else upright

    async def behave(call: Call) -> None:
        lost = call.turn > 2 and chance.random() < share
        losses = (*LOSSES, *CUT) if "id" in asked(call) else LOSSES
        await (chance.choice(losses) if lost else inner)(call)

    return behave


@pytest.mark.parametrize("era", some(SERVERS, 1))
def test_lost_answers_are_nobodys_failure(era: str) -> None:
    async def failed(seed: int) -> Mapping[str, str]:
        async with turns, serving(losing(seed, era)) as url:
            return (await look(prober(limits=HASTY, probe=PROBE), remote(url))).failed()

    async def all_of_them() -> list[Mapping[str, str]]:
        return await asyncio.gather(*map(failed, range(24)))

    turns = asyncio.Semaphore(8)
    found = asyncio.run(all_of_them())

    assert {seed: wrong for seed, wrong in enumerate(found) if wrong} == {}
