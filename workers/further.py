"""What is looked at besides the server itself, wired from Settings: its package, and what follows from it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from crawler.collector import Collector, Follower
from crawler.collectors.package import ConfiguredIndexes, PackageCollector
from crawler.wire.http import Engine
from workers.clock import Clock
from workers.pins import Pinned, Versioned
from workers.settings import Settings, tool_environment


class Further:
    """Builds the sources that the settings ask for, on first use."""

    def __init__(self, settings: Settings, clock: Clock, engine: Engine) -> None:
        self._settings = settings
        self._clock = clock
        self._engine = engine

    @property
    def versions(self) -> Sequence[Versioned]:
        """Names and versions of the sources, known without building them."""
        known = {"package": Pinned(PackageCollector.name, PackageCollector.version)}
        return tuple(pinned for name, pinned in known.items() if name in self._settings.sources)

    @property
    def collectors(self) -> Sequence[Collector]:
        """The collectors, in the order in which they run."""
        return (self._package,) if "package" in self._settings.sources else ()

    @property
    def followers(self) -> Sequence[Follower]:
        """The followers, in the order in which they run."""
        return ()

    @cached_property
    def _package(self) -> PackageCollector:
        template = self._settings.npm_downloads
        return PackageCollector(
            self._engine,
            ConfiguredIndexes(tool_environment()),
            self._clock.now,
            downloads={"npm": template} if template else None,
        )
