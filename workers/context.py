"""The Context: everything the steps use from outside, built from Settings, and each part only when it is needed."""

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
    """Takes samples of connection stability, as `AvailabilitySampler` of `crawler` does."""

    async def sample(self, target: Target) -> Sample | None:
        """One attempt to connect; None when it says nothing of the server's stability."""


class CrawlerWiring(Protocol):
    """The outside world of a run. `workers.wiring.network.NetworkWiring` is the real one."""

    @property
    def versions(self) -> Sequence[pins.VersionedCollector]:
        """What the collectors are, known without building them."""

    async def collectors(self) -> Sequence[Collector]:
        """The collectors, in the order in which they run; built on the first call."""

    async def retest_collector(self, chosen: QuestionSelection) -> Collector:
        """The collector of a server's conversation as a re-test sends it, which asks what was chosen besides."""

    async def followers(self) -> Sequence[Follower]:
        """The followers, in the order in which they run, each finding what those before it recorded."""

    async def registries(self, sources: Sequence[str]) -> Sequence[Registry]:
        """One registry per source: those of the settings by name, others as written: `starter`, a path, a URL ..."""

    async def sampler(self) -> AvailabilitySampler:
        """What takes samples of remotes between two runs."""

    async def close(self) -> None: ...


class Context:
    """Settings, store, clock and log; collectors, registries and pins on first use."""

    def __init__(self, settings: Settings, *, store: Store, clock: Clock, log: Log, outside: CrawlerWiring) -> None:
        self.settings = settings
        self.store = store
        self.clock = clock
        self.log = log
        self.outside = outside

    @cached_property
    def pins(self) -> Mapping[str, str]:
        return pins.read_current_pins(self.outside.versions, self.settings.commit)


@asynccontextmanager
async def open_context(
    settings: Settings, *, outside: CrawlerWiring | None = None, migrate: bool = True
) -> AsyncIterator[Context]:
    """A Context for one event loop. Opens the database and nothing else; the rest is built on first use.

    With `migrate` the database is brought to the newest schema, and created when it is a missing SQLite file.
    """
    clock = clock_at(settings.clock)
    if settings.database_url is None:
        settings.home.mkdir(parents=True, exist_ok=True)
    store = open_store(settings.store_url)
    outside = outside or _network(settings, clock)
    try:
        if migrate:
            store.migrate()
        yield Context(settings, store=store, clock=clock, log=get_log(), outside=outside)
    finally:
        await outside.close()
        store.close()


def _network(settings: Settings, clock: Clock) -> CrawlerWiring:
    # Imported late: the wire costs a reader of stored results a third of a second.
    from workers.wiring.network import NetworkWiring  # noqa: PLC0415

    return NetworkWiring(settings, clock)
