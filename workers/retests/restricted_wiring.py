"""The outside world as a re-test sees it: the conversation, the package index and the repository, and nothing more."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from crawler.collector import Collector, Follower, Scarce
from crawler.collectors.protocol import ProtocolCollector
from crawler.collectors.protocol.questions.selection import QuestionSelection
from crawler.registries.registry import Registry
from evidence.kinds.traits import schemas
from evidence.model import Absent, Dossier, Reason, Record, Server
from workers.context import AvailabilitySampler, CrawlerWiring
from workers.runs import pins

# One or two requests each, and none of them to the server. Source, and advisories about it, take longer than a person
# waits; the official client would ask everything once more.
_CHEAP: Final = frozenset({Scarce.INDEX, Scarce.GITHUB})


@dataclass(frozen=True, slots=True)
class CarriedSource:
    """Stands for a source that a re-test does not ask: what the last night recorded stays, with its age."""

    source: Collector | Follower
    now: Callable[[], datetime]

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def version(self) -> int:
        return self.source.version

    @property
    def needs(self) -> Scarce:
        return self.source.needs

    @property
    def kinds(self) -> tuple[str, ...]:
        return self.source.kinds

    async def collect(self, target: Server, earlier: Dossier) -> list[Record]:
        return [earlier.records.get(kind) or self._nothing(target, kind) for kind in self.kinds]

    async def follow(self, found: Dossier, earlier: Dossier) -> list[Record]:
        return await self.collect(found.server, earlier)

    def _nothing(self, target: Server, kind: str) -> Record:
        return Record(
            server=target.id,
            kind=kind,
            schema=schemas()[kind],
            collector=self.name,
            collector_version=self.version,
            observed_at=self.now(),
            content=Absent(Reason.NOT_COLLECTED, "a re-test does not look at it, and no night has yet"),
        )


class RetestWiring:
    """An Outside that sends one chosen conversation. It is closed with the one that it was made of."""

    def __init__(self, outside: CrawlerWiring, chosen: QuestionSelection, now: Callable[[], datetime]) -> None:
        self._outside = outside
        self._chosen = chosen
        self._now = now

    @property
    def versions(self) -> Sequence[pins.VersionedCollector]:
        """Those of all sources, since the records of all of them are in the run."""
        return self._outside.versions

    async def collectors(self) -> Sequence[Collector]:
        asked = await self._outside.retest_collector(self._chosen)
        known = await self._outside.collectors()
        return [asked if one.name == ProtocolCollector.name else self._cheap(one) for one in known]

    async def followers(self) -> Sequence[Follower]:
        return [
            one if one.needs in _CHEAP else CarriedSource(one, self._now) for one in await self._outside.followers()
        ]

    async def retest_collector(self, chosen: QuestionSelection) -> Collector:
        return await self._outside.retest_collector(chosen)

    async def registries(self, sources: Sequence[str]) -> Sequence[Registry]:
        return await self._outside.registries(sources)

    async def sampler(self) -> AvailabilitySampler:
        return await self._outside.sampler()

    async def close(self) -> None:
        """Nothing: the network is closed by its owner."""

    def _cheap(self, one: Collector) -> Collector:
        return one if one.needs in _CHEAP else CarriedSource(one, self._now)
