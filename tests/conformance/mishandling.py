"""Full probes of hostile servers: what each leaves behind, and how long each question took."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass

from crawler.collectors.protocol import ProbeLimits
from crawler.wire.connection import Limits
from evidence.model import TargetType
from tests.conformance.probing import Probed, look, prober
from tests.crawler.collectors.probing import remote
from tests.servers.hostile import serving
from tests.servers.hostile_access import LOCKED, SSE
from tests.servers.hostile_deeds import Case
from tests.servers.hostile_framing import FRAMING
from tests.servers.hostile_lists import LISTED
from tests.servers.hostile_meaning import MEANING

HASTY = Limits(connect=2, first_byte=0.8, between_bytes=0.5, total=1.2)
PROBE = ProbeLimits(discover=0.8, total=20, stdio_answer=1.2, retry_pause=0)
AT_ONCE = 12
HTTP: Mapping[str, Case] = {**FRAMING, **MEANING, **LISTED, **LOCKED}


@dataclass(frozen=True, slots=True)
class Suffered:
    """What came of one hostile server, and the seconds that all of it took."""

    probed: Probed
    seconds: float


def suffer() -> Mapping[str, Suffered]:
    """Probe every hostile server, some at once; an exception of the collector goes through."""
    return asyncio.run(_suffer())


async def _suffer() -> Mapping[str, Suffered]:
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(case: Case, kind: TargetType) -> Suffered:
        async with turns, serving(case.make()) as url:
            began = time.monotonic()
            found = await look(prober(limits=HASTY, probe=PROBE), remote(url, kind))
            return Suffered(found, time.monotonic() - began)

    wanted = {name: one(case, TargetType.STREAMABLE_HTTP) for name, case in HTTP.items()}
    wanted |= {name: one(case, TargetType.SSE) for name, case in SSE.items()}
    return dict(zip(wanted, await asyncio.gather(*wanted.values()), strict=True))
