"""The crawler wiring of a re-test: it asks the server, its package index and its repository, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final

from msgspec import Struct

from crawler.collector import Collector, Follower, Scarce
from crawler.collectors.protocol import ProtocolCollector
from crawler.collectors.protocol.questions.selection import QuestionSelection
from crawler.registries.registry import Registry
from evidence.kinds.traits import schemas
from evidence.model import Absent, Dossier, Reason, Record, Server
from workers.context import AvailabilitySampler, CrawlerWiring
from workers.runs import pins

# These need one or two requests, none of them to the server. Source and advisories take longer than a person waits; the
# official client would ask everything once more.
_CHEAP: Final = frozenset({Scarce.INDEX, Scarce.GITHUB})


class CarriedSource(Struct, frozen=True):
    """Replaces a source that a re-test does not ask: it returns the records of the last run, with their age."""

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
            content=Absent(
                Reason.NOT_COLLECTED, "a re-test does not collect it, and no nightly run has collected it yet"
            ),
        )


class RetestWiring:
    """A CrawlerWiring that asks only chosen questions. Its owner closes the wiring that it wraps."""

    def __init__(self, wiring: CrawlerWiring, chosen: QuestionSelection, now: Callable[[], datetime]) -> None:
        self._wiring = wiring
        self._chosen = chosen
        self._now = now

    @property
    def versions(self) -> Sequence[pins.VersionedCollector]:
        """The versions of all sources, because the run has records of all of them."""
        return self._wiring.versions

    async def collectors(self) -> Sequence[Collector]:
        protocol = await self._wiring.retest_collector(self._chosen)
        known = await self._wiring.collectors()
        return [protocol if one.name == ProtocolCollector.name else self._carry_unless_cheap(one) for one in known]

    async def followers(self) -> Sequence[Follower]:
        return [one if one.needs in _CHEAP else CarriedSource(one, self._now) for one in await self._wiring.followers()]

    async def retest_collector(self, chosen: QuestionSelection) -> Collector:
        return await self._wiring.retest_collector(chosen)

    async def registries(self, sources: Sequence[str]) -> Sequence[Registry]:
        return await self._wiring.registries(sources)

    async def sampler(self) -> AvailabilitySampler:
        return await self._wiring.sampler()

    async def close(self) -> None:
        pass

    def _carry_unless_cheap(self, one: Collector) -> Collector:
        return one if one.needs in _CHEAP else CarriedSource(one, self._now)
