"""Builds the collectors of a server's project from Settings: package, repository, source and advisories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from msgspec import Struct

from crawler.advisories.http_client import API_LIMITS, AdvisoryClient
from crawler.advisories.known_exploited import KnownExploited
from crawler.advisories.mirror import Mirror
from crawler.advisories.osv_api import OsvApi
from crawler.advisories.version_order import OsvOrder
from crawler.collector import Collector, Follower
from crawler.collectors.advisories import AdvisoriesCollector
from crawler.collectors.package import PackageCollector
from crawler.collectors.repository import GitHub, RepositoryCollector, TokenBudgets
from crawler.collectors.source import ReaderPool, SourceCollector
from crawler.collectors.source.dependencies import InstallationSource
from crawler.collectors.source.local_project import LocalProjectCollector
from crawler.http.address_guard import AddressGuard
from crawler.http.engine import HttpEngine
from crawler.projects.project import Project
from crawler.sandbox.toolchain.configured_indexes import ConfiguredIndexes
from evidence.derive.secrets.gitleaks_rules import RulesInvalid, load_rules
from evidence.derive.secrets.rules import RuleSet, build_own_rules, rules_digest
from workers.clock import Clock
from workers.runs.pins import PinnedCollector, VersionedCollector
from workers.settings.environment import ALL_SOURCES, InvalidSetting, Settings
from workers.settings.salt import read_secret_salt

if TYPE_CHECKING:
    import httpx

T = TypeVar("T", Collector, Follower)


class Registration(Struct, Generic[T], frozen=True):
    """A source of evidence that runs when HALLMARK_SOURCES names it: its name, version and constructor."""

    name: str
    version: int
    build: Callable[[ProjectCollectors], T]


class ProjectCollectors:
    """Builds the sources that the settings name on first use, and keeps them until `close`.

    `installs` gives the content of installed packages. With `asks_osv`, OSV's API is asked while there is no advisory
    mirror, which suits few servers only. `budgets` shares the budgets of GitHub tokens between processes. `local` is
    a project on this machine, whose files are read in place of a repository or package.
    """

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        engine: HttpEngine,
        installs: InstallationSource,
        indexes: ConfiguredIndexes,
        *,
        asks_osv: bool,
        budgets: TokenBudgets | None = None,
        local: Project | None = None,
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._engine = engine
        self._installs = installs
        self._indexes = indexes
        self._asks_osv = asks_osv
        self._budgets = budgets
        self._local = local
        self._built = AsyncExitStack()
        self._wanted = _wanted(settings.sources)

    @property
    def versions(self) -> Sequence[VersionedCollector]:
        known = [PinnedCollector(one.name, one.version) for one in COLLECTORS]
        known += [PinnedCollector(one.name, one.version) for one in FOLLOWERS]
        return tuple(one for one in known if self._wants(one.name))

    @cached_property
    def collectors(self) -> Sequence[Collector]:
        local = [self._local_source(self._local)] if self._local and self._wants(SourceCollector.name) else []
        return [*local, *(one.build(self) for one in COLLECTORS if self._wants(one.name))]

    @cached_property
    def followers(self) -> Sequence[Follower]:
        return [one.build(self) for one in FOLLOWERS if self._wants(one.name) and not self._is_local(one.name)]

    async def close(self) -> None:
        await self._built.aclose()

    def _wants(self, name: str) -> bool:
        return name in self._wanted

    @cached_property
    def package(self) -> PackageCollector:
        """The package collector; the source collector uses it too."""
        template = self._settings.npm_downloads
        return PackageCollector(
            self._engine, self._indexes, self._clock.now, downloads={"npm": template} if template else None
        )

    @cached_property
    def _github(self) -> GitHub:
        tokens = [token.reveal() for token in self._settings.github_tokens]
        github = GitHub(
            self._settings.github_api,
            tokens,
            now=self._clock.now,
            user_agent=self._settings.user_agent,
            budgets=self._budgets,
            outages=self._engine.outages,
        )
        self._built.callback(github.close)
        return github

    def repository(self) -> RepositoryCollector:
        return RepositoryCollector(self._github, self._clock.now)

    def source(self) -> SourceCollector:
        text, rules = _secret_rules(self._settings.secret_rules)
        readers = self._open_readers(text)
        github = self._github if self._wants(RepositoryCollector.name) else None
        return SourceCollector(
            self._engine,
            readers,
            self.package,
            self._indexes,
            self._clock.now,
            rules=rules_digest(rules),
            tarballs=github,
            sboms=github,
            installs=self._installs,
        )

    def _is_local(self, name: str) -> bool:
        """Whether a collector reads from this machine what the follower of this name would download."""
        return self._local is not None and name == SourceCollector.name

    def _local_source(self, project: Project) -> LocalProjectCollector:
        text, _ = _secret_rules(self._settings.secret_rules)
        return LocalProjectCollector(project, self._open_readers(text), self._installs, self._clock.now)

    def _open_readers(self, rules: str) -> ReaderPool:
        salt = read_secret_salt(self._settings.home, self._settings.secret_salt.reveal())
        readers = ReaderPool(salt=salt, rules=rules)
        self._built.push_async_callback(readers.close)
        return readers

    def advisories(self) -> AdvisoriesCollector:
        return AdvisoriesCollector(
            Mirror(self._settings.advisories_file),
            self._osv() if self._asks_osv and self._settings.osv_api else None,
            OsvOrder(),
            self._clock.now,
            exploited=self._known_exploited() if self._settings.known_exploited else None,
            stale_after=self._settings.advisories_stale_after,
        )

    def _osv(self) -> OsvApi:
        return OsvApi(self._advisory_client("the API of OSV"), self._settings.osv_api)

    def _known_exploited(self) -> KnownExploited:
        client = self._advisory_client("the catalogue of known exploited vulnerabilities")
        copy = self._settings.advisories_file.with_name("known_exploited.json")
        return KnownExploited(client, self._settings.known_exploited, copy, self._clock.now)

    def _advisory_client(self, what: str) -> AdvisoryClient:
        return AdvisoryClient(self._open_advisory_client, what=what)

    def _open_advisory_client(self) -> httpx.AsyncClient:
        import httpx  # noqa: PLC0415  takes longer to import than the scan of a remote, which has no advisories

        from crawler.http.adapters import GuardedTransport  # noqa: PLC0415

        # The address comes from the operator, so it may be on a private network.
        transport = GuardedTransport(self._engine, guard=AddressGuard(allow_private=True), limits=API_LIMITS)
        client = httpx.AsyncClient(transport=transport, trust_env=False)
        self._built.push_async_callback(client.aclose)
        return client


COLLECTORS: Final[tuple[Registration[Collector], ...]] = (
    Registration(PackageCollector.name, PackageCollector.version, lambda project: project.package),
)
"""The collectors besides those of `NetworkWiring`, one line each, in the order in which they run."""

FOLLOWERS: Final[tuple[Registration[Follower], ...]] = (
    Registration(RepositoryCollector.name, RepositoryCollector.version, ProjectCollectors.repository),
    Registration(SourceCollector.name, SourceCollector.version, ProjectCollectors.source),
    Registration(AdvisoriesCollector.name, AdvisoriesCollector.version, ProjectCollectors.advisories),
)
"""The followers, one line each, in the order in which they run."""


def _wanted(asked: Sequence[str]) -> frozenset[str]:
    """The names of the sources in the settings; raise InvalidSetting for an unknown one."""
    known = frozenset(one.name for one in COLLECTORS) | frozenset(one.name for one in FOLLOWERS)
    unknown = sorted(set(asked) - known - {ALL_SOURCES})
    if unknown:
        raise InvalidSetting(
            f"HALLMARK_SOURCES: expected some of {', '.join(sorted(known))} or all, found {unknown[0]!r}"
        )
    return known if ALL_SOURCES in asked else frozenset(asked)


def _secret_rules(path: Path | None) -> tuple[str, RuleSet]:
    """The text of the operator's rule file and its rules; without a file no text and the built-in rules."""
    if path is None:
        return "", build_own_rules()
    try:
        text = path.read_text(encoding="utf-8")
        return text, load_rules(text)
    except (RulesInvalid, UnicodeDecodeError) as error:
        raise InvalidSetting(f"HALLMARK_SECRET_RULES: {path} is not a gitleaks rule file: {error}") from error
