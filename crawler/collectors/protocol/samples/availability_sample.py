"""An availability sample between two runs: a remote is opened and closed again, and nothing else is asked."""

from __future__ import annotations

from typing import ClassVar, Final

from crawler.collectors.protocol.probes.fresh_client import FreshClient
from crawler.collectors.protocol.probes.probe import ProbeDependencies, ProbeOptions
from crawler.collectors.protocol.probes.remote_probe import RemoteProbe
from crawler.collectors.protocol.samples.sample_window import make_sample
from crawler.collectors.protocol.session.absence_reasons import explain_reply
from crawler.collectors.protocol.session.handshake import OpeningRefused
from crawler.http.engine import HttpEngine, HttpSession
from crawler.http.failures import InvalidTarget
from crawler.http.url import parse_url
from evidence.kinds.samples import Sample
from evidence.model import Absent, Observed, Target

_OPENED: Final = Observed(b"{}")


class AvailabilitySampler:
    """Takes samples of remotes, with the rate limits and the second try of a probe."""

    def __init__(self, engine: HttpEngine, dependencies: ProbeDependencies) -> None:
        self._engine = engine
        self._dependencies = dependencies

    async def sample(self, target: Target) -> Sample | None:
        """One attempt to connect; None when it shows nothing about stability, or its host's daily budget is spent."""
        if not await self._has_room(target):
            return None
        at = self._dependencies.clock()
        probed = await _ConnectProbe(self._engine, self._dependencies, ProbeOptions()).run(target)
        return make_sample(probed.listing, at=at, cold_ms=probed.cold_ms, warm_ms=probed.warm_ms)

    async def _has_room(self, target: Target) -> bool:
        budgets = self._dependencies.limiter.budgets
        try:
            return budgets is None or await budgets.has_room(parse_url(target.identifier).origin.host)
        except InvalidTarget:
            return True  # the probe reports the reason


class _ConnectProbe(RemoteProbe):
    wants_both_eras: ClassVar[bool] = False

    async def _probe(self, target: Target, session: HttpSession, fresh: FreshClient) -> Observed | Absent:
        opened = await self._open(target, session, fresh)
        if isinstance(opened, OpeningRefused):
            return explain_reply(opened.reply, opened.asked)
        await opened[0].dialogue.channel.close()
        return _OPENED
