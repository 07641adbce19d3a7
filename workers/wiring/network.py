"""Builds the crawler from Settings: the guarded HTTP engine, registries and collectors."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Final, Protocol

from msgspec.structs import replace

from crawler.budgeted_collector import BudgetedCollector
from crawler.collector import Collector, Follower
from crawler.collectors.protocol import ProbeLimits, ProtocolCollector
from crawler.collectors.protocol.probes.probe import ProbeDependencies
from crawler.collectors.protocol.questions.selection import QuestionSelection
from crawler.collectors.protocol.samples.availability_sample import AvailabilitySampler
from crawler.collectors.protocol.trials.call_policy import CallPolicy
from crawler.collectors.repository import TokenBudgets
from crawler.http.address_guard import AddressGuard
from crawler.http.connection import Limits
from crawler.http.connectivity import OutageMonitor
from crawler.http.credentials import Credentials, read_credentials
from crawler.http.deadlines import pause_deadline
from crawler.http.engine import HttpEngine
from crawler.http.rate_limiting import HostRateLimiter
from crawler.http.request_budgets import LocalRequestLedger
from crawler.http.resolver import DnsResolver
from crawler.launcher import LaunchedServer, Launcher
from crawler.sandbox.box_slots import count_box_slots
from crawler.sandbox.toolchain.configured_indexes import ConfiguredIndexes
from evidence.kinds.traits import schemas
from evidence.model import Absent, Reason, Target
from workers.clock import Clock
from workers.log import get_log
from workers.runs.pins import UNKNOWN, PinnedCollector, VersionedCollector, digest_pins, read_current_pins
from workers.settings.environment import (
    RegistrySetting,
    Settings,
    read_code_version,
    read_environment_variable,
    read_tool_environment,
)
from workers.wiring.probe_modules import preload_probes
from workers.wiring.project_collectors import ProjectCollectors
from workers.wiring.request_budgets import build_request_budgets

if TYPE_CHECKING:
    from crawler.collectors.interop.collector import InteropCollector
    from crawler.projects.project import Project
    from crawler.registries.registry import Registry
    from crawler.registries.sources import Source
    from crawler.sandbox import InstalledTree, Sandbox
    from crawler.sandbox.boxes.egress_relay import AllowedEndpoints

# The scan of one remote uses neither the sandbox nor registries nor the official client, and their imports take longer
# than its probe: they are imported when they are first used.

# A catalogue in one file is larger than any answer of a server may be.
_CATALOGUE: Final = {"wire_bytes": 16 * 1024 * 1024, "body_bytes": 32 * 1024 * 1024}
_WEEK: Final = timedelta(days=7)


class Watcher(Protocol):
    """Follows a scan for the person who waits for it."""

    def show_phase(self, phase: str) -> None:
        """Called with what the sandbox does, for example `downloading 12 of 40`; from any thread."""

    def count_question(self) -> None:
        """Called after every answered or failed request of the protocol."""


class NetworkWiring:
    """The `CrawlerWiring` of the real network. It builds each part on first use and keeps it until `close`."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        *,
        rate_limiter: HostRateLimiter | None = None,
        budgets: TokenBudgets | None = None,
        spread: bool = False,
        endpoints: AllowedEndpoints | None = None,
        watcher: Watcher | None = None,
        launcher: Launcher | None = None,
        project: Project | None = None,
        indexes: ConfiguredIndexes | None = None,
    ) -> None:
        """`launcher` starts commands and packages in place of the sandbox. `project` lies on this machine. `indexes`:
        those of `read_tool_environment`, if they are read already.
        """
        self._settings = settings
        self._instead = launcher
        self._local = project
        self._indexes = indexes or ConfiguredIndexes(read_tool_environment(), settings.cache)
        self._endpoints = endpoints
        self._watcher = watcher
        self._clock = clock
        self._spread = spread
        self._budgets = budgets
        self._rate_limiter = rate_limiter or HostRateLimiter(
            gap=settings.host_gap,
            tick=clock.monotonic,
            budgets=build_request_budgets(settings, LocalRequestLedger(), clock.now),
        )
        self._built = AsyncExitStack()
        self._engine: HttpEngine | None = None
        self._collectors: tuple[Collector, ...] | None = None

    @property
    def versions(self) -> Sequence[VersionedCollector]:
        protocol = PinnedCollector(ProtocolCollector.name, ProtocolCollector.version)
        return (protocol, *self._interop_versions(), *self._project.versions)

    async def registries(self, sources: Sequence[str]) -> Sequence[Registry]:
        import httpx  # noqa: PLC0415

        from crawler.http.adapters import GuardedTransport  # noqa: PLC0415
        from crawler.registries.sources import build_registries  # noqa: PLC0415

        named = {known.name: known for known in self._settings.registries if isinstance(known, RegistrySetting)}
        wanted = [_source(named[source]) if source in named else source for source in sources]
        # One transport per walk, because it keeps connections until it is closed. The address comes from the operator,
        # so it may be on a private network; the servers that the registry lists may not.
        transport = GuardedTransport(
            self._http_engine(),
            guard=AddressGuard(allow_private=True),
            limits=replace(_limits(self._settings), **_CATALOGUE),
        )
        client = await self._built.enter_async_context(httpx.AsyncClient(transport=transport, trust_env=False))
        return build_registries(wanted, client, clock=self._clock.wall)

    async def collectors(self) -> Sequence[Collector]:
        if self._collectors is None:
            if self._watcher is None:  # many servers will be probed at once
                preload_probes()
            launcher = await self._launcher()  # one for all collectors, because it holds the slots of the sandbox
            interop = [self._budgeted(self._interop(launcher))] if self._uses_official_client else []
            talking = (self._budgeted(self._protocol(launcher)), *interop)
            others = self._project.collectors
            # A project on this machine is read first, whatever time its server takes.
            self._collectors = (*others, *talking) if self._local else (*talking, *others)
        return self._collectors

    async def retest_collector(self, chosen: QuestionSelection) -> Collector:
        return self._budgeted(self._protocol(await self._launcher(), chosen))

    async def followers(self) -> Sequence[Follower]:
        return self._project.followers

    async def sampler(self) -> AvailabilitySampler:
        dependencies = ProbeDependencies(
            limiter=self._rate_limiter,
            clock=self._clock.now,
            limits=_probe_limits(self._settings),
            client_version=read_code_version(),
        )
        return AvailabilitySampler(self._http_engine(), dependencies)

    async def close(self) -> None:
        await self._built.aclose()

    def _budgeted(self, collector: Collector) -> Collector:
        budgets = self._rate_limiter.budgets
        return collector if budgets is None else BudgetedCollector(collector, budgets, self._clock.now, schemas())

    def _protocol(self, launcher: Launcher | None, chosen: QuestionSelection | None = None) -> ProtocolCollector:
        return ProtocolCollector(
            self._http_engine(),
            launcher,
            self._rate_limiter,
            self._clock.now,
            replace(_probe_limits(self._settings), processes=self._processes, all_starts=self._all_starts),
            client_version=read_code_version(),
            depth=self._settings.depth,
            spread=self._spread,
            policy=CallPolicy(self._settings.trials),
            credentials=_credentials(self._settings),
            opted_out=self._settings.trials_opt_out,
            listen=self._settings.listen,
            retest=chosen,
            on_exchange=self._watcher.count_question if self._watcher else None,
            identify=self._identify if self._settings.carry_starts and not self._watcher else None,
        )

    @property
    def _processes(self) -> int:
        """How many processes of one server may live at a time. Outside of the sandbox they share files and ports."""
        return self._box_slots if self._watcher is not None and self._instead is None else 1

    @property
    def _all_starts(self) -> float:
        """Seconds for all processes of one server: a person waits no longer than for one server."""
        return math.inf if self._watcher is None else self._settings.server_timeout

    @property
    def _box_slots(self) -> int:
        return count_box_slots(self._settings.sandbox_slots, self._settings.sandbox_memory)

    @property
    def _uses_official_client(self) -> bool:
        asked = self._settings.interop
        return asked == "weekly" or (asked == "full" and self._settings.depth == "full")

    def _interop_versions(self) -> Sequence[VersionedCollector]:
        if not self._uses_official_client:
            return ()
        from crawler.collectors.interop.collector import InteropCollector  # noqa: PLC0415

        return (PinnedCollector(InteropCollector.name, InteropCollector.version),)

    def _interop(self, launcher: Launcher | None) -> InteropCollector:
        from crawler.collectors.interop.collector import InteropCollector  # noqa: PLC0415

        return InteropCollector(
            self._http_engine(),
            launcher,
            self._rate_limiter,
            self._clock.now,
            user_agent=self._settings.user_agent,
            gap=self._settings.host_gap,
            every=_WEEK if self._settings.interop == "weekly" and self._settings.depth != "full" else timedelta(0),
        )

    @cached_property
    def _project(self) -> ProjectCollectors:
        # Workers of a fleet never ask OSV's API, which is not meant for all servers of a registry; they have a mirror.
        project = ProjectCollectors(
            self._settings,
            self._clock,
            self._http_engine(),
            self._packages,
            self._indexes,
            asks_osv=not self._spread,
            budgets=self._budgets,
            local=self._local,
        )
        self._built.push_async_callback(project.close)
        return project

    def _http_engine(self) -> HttpEngine:
        if self._engine is None:
            resolver = DnsResolver()
            self._engine = HttpEngine(
                user_agent=self._settings.user_agent,
                guard=AddressGuard(allow_private=self._settings.allow_private),
                limits=_limits(self._settings),
                resolver=resolver,
                outages=OutageMonitor(
                    self._settings.canaries, resolver, tick=self._clock.monotonic, report=_report_outage
                ),
            )
        return self._engine

    async def _identify(self, target: Target) -> str | None:
        """What a start of a package would be tonight, with this code; None when the code or the package is unknown."""
        if UNKNOWN in self._pins.values() or (identity := await self._packages.identify(target)) is None:
            return None
        return f"{identity} {digest_pins(self._pins)}"

    @cached_property
    def _pins(self) -> Mapping[str, str]:
        return read_current_pins(self.versions, self._settings.commit)

    @cached_property
    def _packages(self) -> _Packages:
        return _Packages(self._settings, self._clock, self._indexes, self._endpoints, self._watcher)

    async def _launcher(self) -> Launcher | None:
        return self._instead or self._packages


class _Packages:
    """Starts packages in a sandbox, which is opened for the first package and built if it is missing."""

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        indexes: ConfiguredIndexes,
        endpoints: AllowedEndpoints | None,
        watcher: Watcher | None,
    ) -> None:
        self._settings = settings
        self._indexes = indexes
        self._clock = clock
        self._endpoints = endpoints
        self._watcher = watcher
        self._opening = asyncio.Lock()
        self._sandbox: Sandbox | Absent | None = None

    async def launch(self, target: Target) -> LaunchedServer | Absent:
        """Start a target; Absent has the reason when that fails. Installing has time limits of its own."""
        with pause_deadline():
            sandbox = await self._opened()
            return sandbox if isinstance(sandbox, Absent) else await sandbox.launch(target)

    async def installed(self, target: Target) -> InstalledTree | Absent:
        """Install a package; Absent has the reason when that fails."""
        with pause_deadline():
            sandbox = await self._opened()
            return sandbox if isinstance(sandbox, Absent) else await sandbox.installed(target)

    async def identify(self, target: Target) -> str | None:
        """What a start of a package would run, and what would contain it; None when that is not known."""
        with pause_deadline():
            sandbox = await self._opened()
            return None if isinstance(sandbox, Absent) else await sandbox.identify(target)

    async def _opened(self) -> Sandbox | Absent:
        async with self._opening:
            if self._sandbox is None:
                self._show("opening the sandbox")
                self._sandbox = await self._open()
        return self._sandbox

    async def _open(self) -> Sandbox | Absent:
        if self._settings.sandbox == "off":
            return Absent(Reason.NO_SANDBOX, "switched off by HALLMARK_SANDBOX")
        from crawler.sandbox import open_sandbox  # noqa: PLC0415
        from crawler.sandbox.boxes.egress_relay import NO_ENDPOINTS  # noqa: PLC0415
        from workers.wiring.package_cache import evict_unused_packages  # noqa: PLC0415

        await evict_unused_packages(self._settings, self._clock)
        return await open_sandbox(
            self._settings.cache,
            environ=read_tool_environment(),
            now=self._clock.wall,
            slots=count_box_slots(self._settings.sandbox_slots, self._settings.sandbox_memory),
            runtime=self._settings.sandbox_runtime,
            python=self._settings.sandbox_pythons,
            endpoints=self._endpoints or NO_ENDPOINTS,
            guard=AddressGuard(allow_private=self._settings.allow_private),
            indexes=self._indexes,
            progress=self._report_building,
            on_phase=self._watcher.show_phase if self._watcher else None,
        )

    def _report_building(self, step: str) -> None:
        get_log().info("sandbox_building", step=step)
        self._show(step)

    def _show(self, phase: str) -> None:
        if self._watcher:
            self._watcher.show_phase(phase)


def _report_outage(offline: bool) -> None:
    if offline:
        # A scan logs errors only: its result names what was not collected, and why.
        get_log().warning("collector_offline", canaries="none answered")
    else:
        get_log().info("collector_online")


def _limits(settings: Settings) -> Limits:
    return Limits(
        connect=settings.connect_timeout,
        first_byte=settings.first_byte_timeout,
        between_bytes=settings.read_timeout,
        total=settings.server_timeout,
    )


def _probe_limits(settings: Settings) -> ProbeLimits:
    return ProbeLimits(total=settings.server_timeout, retry_pause=settings.retry_pause)


def _credentials(settings: Settings) -> Credentials:
    if settings.credentials is None:
        return Credentials()
    return read_credentials(settings.credentials, read_environment_variable)


def _source(setting: RegistrySetting) -> Source:
    from crawler.registries.sources import Source  # noqa: PLC0415

    headers: Mapping[str, str] = {name: value.reveal() for name, value in setting.headers.items()}
    return Source(setting.url, name=setting.name, headers=headers)
