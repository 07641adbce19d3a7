"""The Context: settings, store, clock, log and crawler of a run, each part built when it is first used."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cached_property
from typing import Protocol

from crawler.collector import Collector, Follower
from crawler.collectors.protocol.questions.selection import QuestionSelection
from crawler.registries.registry import Registry
from evidence.kinds.samples import Sample
from evidence.model import Target
from evidence.store import Store, open_store
from workers.clock import Clock, clock_at
from workers.log import Log, get_log
from workers.runs import pins
from workers.settings.environment import Settings


class AvailabilitySampler(Protocol):
    """Takes availability samples, as `AvailabilitySampler` of `crawler` does."""

    async def sample(self, target: Target) -> Sample | None:
        """Attempt to connect once; None when the result says nothing about the server's stability."""


class CrawlerWiring(Protocol):
    """Everything that contacts the network in a run; implemented by `workers.wiring.network.NetworkWiring`."""

    @property
    def versions(self) -> Sequence[pins.VersionedCollector]:
        """Names and versions of the collectors and followers, without building them."""

    async def collectors(self) -> Sequence[Collector]:
        """The collectors, in the order in which they run; built on the first call."""

    async def retest_collector(self, chosen: QuestionSelection) -> Collector:
        """The protocol collector of a re-test, which asks only the chosen questions."""

    async def followers(self) -> Sequence[Follower]:
        """The followers, in the order in which they run; each reads what those before it recorded."""

    async def registries(self, sources: Sequence[str]) -> Sequence[Registry]:
        """One registry per source: a name from the settings, or `starter`, a path or a URL."""

    async def sampler(self) -> AvailabilitySampler:
        """The sampler of remotes between two runs."""

    async def close(self) -> None: ...


class Context:
    """Settings, store, clock and log; collectors, registries and pins on first use."""

    def __init__(self, settings: Settings, *, store: Store, clock: Clock, log: Log, wiring: CrawlerWiring) -> None:
        self.settings = settings
        self.store = store
        self.clock = clock
        self.log = log
        self.wiring = wiring

    @cached_property
    def pins(self) -> Mapping[str, str]:
        return pins.read_current_pins(self.wiring.versions, self.settings.commit)


@asynccontextmanager
async def open_context(
    settings: Settings, *, wiring: CrawlerWiring | None = None, migrate: bool = True
) -> AsyncIterator[Context]:
    """A Context for one event loop. It opens only the database; the rest is built on first use.

    With `migrate` the database gets the newest schema; a missing SQLite file is created.
    """
    clock = clock_at(settings.clock)
    if settings.database_url is None:
        settings.home.mkdir(parents=True, exist_ok=True)
    store = open_store(settings.store_url)
    wiring = wiring or _network(settings, clock)
    try:
        if migrate:
            store.migrate()
        yield Context(settings, store=store, clock=clock, log=get_log(), wiring=wiring)
    finally:
        await wiring.close()
        store.close()


def _network(settings: Settings, clock: Clock) -> CrawlerWiring:
    # Imported late: it takes a third of a second, which commands that only read results do not need.
    from workers.wiring.network import NetworkWiring  # noqa: PLC0415

    return NetworkWiring(settings, clock)
