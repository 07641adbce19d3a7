"""AdvisoriesCollector: compares a server's packages with the published advisories."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from crawler.advisories.http_client import AdvisoriesUnavailable
from crawler.advisories.known_exploited import KnownExploited
from crawler.advisories.lookup import MIRROR, STALE_AFTER, LookupResult, look_up_by_api, look_up_in_mirror
from crawler.advisories.mirror import Mirror
from crawler.advisories.mirror_database import MirrorUnreadable
from crawler.advisories.osv_api import OsvApi
from crawler.collector import Scarce, make_record
from crawler.collectors.advisories.used_packages import list_used_packages
from evidence.advisories.evidence_body import build_body
from evidence.advisories.osv_record import is_timestamp, parse_timestamp
from evidence.advisories.package_matching import Package
from evidence.advisories.version_matching import VersionOrder
from evidence.canonical import Json
from evidence.kinds.advisories import KIND
from evidence.model import Absent, Dossier, Observed, Reason, Record

VERSION: Final = 1
LOOKED_AT: Final = "looked_at"
CARRIED: Final = timedelta(days=14)
"""How long an earlier result stands after a failure of ours (docs/decisions/0015)."""


REST: Final = 180.0
"""Seconds without requests after the API did not answer; else every server would wait for all retries."""

_OUTAGE_REASONS: Final = frozenset({Reason.UNREACHABLE, Reason.TIMEOUT, Reason.RATE_LIMITED})


class AdvisoriesCollector:
    """Follower for kind `advisories`. Where there is no mirror it asks the API, if one is given.

    `exploited` marks the flaws that are known to be exploited.

    Use one for many servers, so that an outage of the API is noticed once. Matching runs in threads.
    """

    name: Final = "advisories"
    version: Final = VERSION
    kinds: Final = (KIND,)
    needs: Final = Scarce.PROCESSOR

    def __init__(
        self,
        mirror: Mirror,
        api: OsvApi | None,
        order: VersionOrder,
        clock: Callable[[], datetime],
        *,
        exploited: KnownExploited | None = None,
        stale_after: timedelta = STALE_AFTER,
        tick: Callable[[], float] = time.monotonic,
    ) -> None:
        self._mirror = mirror
        self._api = api
        self._order = order
        self._clock = clock
        self._exploited = exploited
        self._stale_after = stale_after
        self._tick = tick
        self._outage: tuple[float, Absent] | None = None

    async def follow(self, found: Dossier, earlier: Dossier) -> list[Record]:
        """One record: the advisories that affect the packages of this run, or the reason why that is unknown."""
        now = self._clock()
        packages = await asyncio.to_thread(list_used_packages, found)  # a large lockfile has thousands
        content: Observed | Absent
        observation: Mapping[str, Json] = {}
        if isinstance(packages, Absent):
            content = packages
        else:
            result = await self._look_up(packages)
            if isinstance(result, Absent):
                content, observation = _carried(earlier, now, result)
            else:
                groups = await self._exploited.mark(result.groups) if self._exploited else result.groups
                content = Observed(
                    build_body(
                        checked=result.checked,
                        groups=groups,
                        unknown=result.unknown,
                        ecosystems=result.ecosystems,
                    )
                )
                observation = self._observation(result, now)
        return [make_record(self, found.server, KIND, content, observation, at=now)]

    async def _look_up(self, packages: Sequence[Package]) -> LookupResult | Absent:
        missing = Absent(Reason.NOT_COLLECTED, "there is no mirror of advisories: `hallmark advisories refresh`")
        try:
            result = await asyncio.to_thread(look_up_in_mirror, self._mirror, packages, self._order)
        except MirrorUnreadable as error:
            result, missing = None, Absent(Reason.NOT_COLLECTED, str(error))
        if result is not None or self._api is None:
            return result or missing
        if self._outage is not None and self._tick() < self._outage[0]:
            return self._outage[1]
        try:
            return await look_up_by_api(self._api, packages, self._order)
        except AdvisoriesUnavailable as failure:
            absent = failure.absent()
            if absent.reason in _OUTAGE_REASONS:
                self._outage = (self._tick() + REST, absent)
            return absent

    def _observation(self, result: LookupResult, now: datetime) -> Mapping[str, Json]:
        observation: dict[str, Json] = {LOOKED_AT: now.isoformat(), "by": result.by}
        if result.by == MIRROR:
            observation["as_of"] = {state.name: state.refreshed_at.isoformat() for state in result.states}
            observation["stale"] = result.stale(now, self._stale_after)
            observation["partial"] = result.partial()
        if self._exploited:
            as_of = self._exploited.as_of
            observation["exploited_as_of"] = as_of.isoformat() if as_of else None
        return observation


def _carried(earlier: Dossier, now: datetime, absent: Absent) -> tuple[Observed | Absent, Mapping[str, Json]]:
    """The content of an earlier run, while it is young enough; else the absence."""
    known = earlier.records.get(KIND)
    looked_at = known.observation.get(LOOKED_AT) if known else None
    if known is None or not isinstance(known.content, Observed) or not is_timestamp(looked_at):
        return absent, {}
    return (known.content, known.observation) if now - parse_timestamp(looked_at) <= CARRIED else (absent, {})
