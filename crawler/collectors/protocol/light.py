"""A light check between two runs: a remote is opened and closed again, and nothing else is asked of it."""

from __future__ import annotations

from typing import Final

from crawler.collectors.protocol.opening import Refused
from crawler.collectors.protocol.probe import Manner, Means
from crawler.collectors.protocol.remote import RemoteProbe
from crawler.collectors.protocol.samples import sample_of
from crawler.collectors.protocol.verdict import absence
from crawler.wire.address import parse_url
from crawler.wire.failures import InvalidTarget
from crawler.wire.http import Engine, Visit
from evidence.kinds.samples import Sample
from evidence.model import Absent, Observed, Target

_OPENED: Final = Observed(b"{}")


class Sampler:
    """Takes samples of remotes, with the courtesy and the second try of a probe."""

    def __init__(self, engine: Engine, means: Means) -> None:
        self._engine = engine
        self._means = means

    async def sample(self, target: Target) -> Sample | None:
        """One attempt to connect; None when it says nothing of the server's stability, or its host got enough today."""
        if not await self._has_room(target):
            return None
        at = self._means.clock()
        probed = await _LightProbe(self._engine, self._means, Manner()).run(target)
        return sample_of(probed.listing, at=at, cold_ms=probed.cold_ms, warm_ms=probed.warm_ms)

    async def _has_room(self, target: Target) -> bool:
        budgets = self._means.courtesy.budgets
        try:
            return budgets is None or await budgets.has_room(parse_url(target.identifier).origin.host)
        except InvalidTarget:
            return True  # the probe says what is wrong with it


class _LightProbe(RemoteProbe):
    async def _visit(self, target: Target, visit: Visit) -> Observed | Absent:
        opened = await self._open(target, visit)
        if isinstance(opened, Refused):
            return absence(opened.reply, opened.asked)
        await opened.dialogue.channel.close()
        return _OPENED
