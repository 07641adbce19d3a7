"""PackageCollector: reads the metadata of a server's declared package from the user's own package indexes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime, timedelta
from typing import Final, TypeAlias
from urllib.parse import quote

from msgspec import Struct, field
from packaging.utils import canonicalize_name

from crawler.addresses import UnusableAddress, normalise_npm_name, normalise_pypi_name
from crawler.collector import Scarce, make_record
from crawler.collectors.package import earlier_record, npm_metadata
from crawler.collectors.package.archives import Archive
from crawler.collectors.package.document_fields import VERSION as LONGEST_VERSION
from crawler.collectors.package.document_fields import Members, as_object, as_plain_text
from crawler.collectors.package.earlier_record import EarlierPackageRecord, WantedPackage
from crawler.collectors.package.index_client import IndexClient, IndexRetryPolicy
from crawler.collectors.package.indexes import index_transport
from crawler.collectors.package.npm_probe import probe_npm_package
from crawler.collectors.package.package_probe import PackageProbe, PackageResult
from crawler.collectors.package.shared_results import SharedResults
from crawler.http.engine import HttpEngine
from crawler.sandbox.errors import SandboxError
from crawler.sandbox.toolchain.configured_indexes import ConfiguredIndexes
from crawler.sandbox.toolchain.package_indexes import NpmIndex
from evidence.canonical import Json, canonical_json
from evidence.kinds.package import KIND, NPM, PYPI
from evidence.model import Absent, Dossier, Observed, Reason, Record, Server, Target, TargetType

VERSION: Final = 2
_INDEX_NAMES: Final = {NPM: "the npm index", PYPI: "the Python index"}

Sleep: TypeAlias = Callable[[float], Awaitable[object]]


class PackageLimits(Struct, frozen=True, kw_only=True):
    """`document`: bytes of one document. `seconds`: of one collection. `at_once`: collections at the same time.

    `keep`: how long a result is shared with other servers of the same package, `keep_failure`: the same for a failure.
    """

    document: int = 24 << 20
    seconds: float = 120.0
    at_once: int = 4
    keep: timedelta = timedelta(hours=1)
    keep_failure: timedelta = timedelta(minutes=5)
    most_kept: int = 4096


class _Collected(Struct, frozen=True):
    content: Observed | Absent
    archive: Archive | Absent
    observation: Mapping[str, Json] = field(default_factory=dict)


class PackageCollector:
    """Collects kind `package`, and finds the archive of a package.

    `downloads` maps an ecosystem (`npm`, `PyPI`) to the address of a JSON document with `{name}` in it, whose monthly
    count goes into the observation; without one no count is requested.
    """

    name: Final = "package"
    version: Final = VERSION
    kinds: Final = (KIND,)
    needs: Final = Scarce.INDEX

    def __init__(
        self,
        engine: HttpEngine,
        indexes: ConfiguredIndexes,
        clock: Callable[[], datetime],
        limits: PackageLimits | None = None,
        *,
        downloads: Mapping[str, str] | None = None,
        retries: IndexRetryPolicy | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._engine = engine
        self._indexes = indexes
        self._clock = clock
        self._limits = limits or PackageLimits()
        self._downloads = downloads or {}
        self._retries = retries
        self._sleep = sleep
        self._slots = asyncio.Semaphore(self._limits.at_once)
        self._results: SharedResults[WantedPackage, _Collected] = SharedResults(
            clock, self._lifetime, most=self._limits.most_kept
        )

    async def collect(self, target: Server, earlier: Dossier) -> list[Record]:
        """One package record of the first npm or PyPI target; after a failure of ours the earlier record stands."""
        now = self._clock()
        content, observation = await self._collect_or_carry(target, earlier.records.get(KIND), now)
        return [make_record(self, target, KIND, content, observation, at=now)]

    async def archive(self, target: Target) -> Archive | Absent:
        """The archive of an npm or PyPI target's version, the latest where none is declared.

        Absent(no_package) when the target is no npm or PyPI package, or the index lacks it or any file of it; the
        reason of the network when the index could not be read. It costs no request when the target was collected in the
        same run.
        """
        wanted = _wanted(target)
        return wanted if isinstance(wanted, Absent) else (await self._collect_shared(wanted, None)).archive

    async def _collect_or_carry(
        self, server: Server, record: Record | None, now: datetime
    ) -> tuple[Observed | Absent, Mapping[str, Json]]:
        wanted = _first(server)
        if isinstance(wanted, Absent):
            return wanted, {}
        earlier = EarlierPackageRecord.if_same_package(record, wanted)
        collected = await self._collect_shared(wanted, earlier)
        if earlier and earlier.replaces(collected.content, collected.observation, now):
            return earlier.content, earlier.record.observation
        return collected.content, collected.observation

    async def _collect_shared(self, wanted: WantedPackage, earlier: EarlierPackageRecord | None) -> _Collected:
        return await self._results.get(wanted, lambda: self._collect_bounded(wanted, earlier))

    async def _collect_bounded(self, wanted: WantedPackage, earlier: EarlierPackageRecord | None) -> _Collected:
        async with self._slots:
            try:
                async with asyncio.timeout(self._limits.seconds):
                    return await self._collect_package(wanted, earlier)
            except TimeoutError:
                why = f"{_INDEX_NAMES[wanted.ecosystem]} took longer than {self._limits.seconds:g} seconds"
                return _failed(Absent(Reason.TIMEOUT, why))
            except SandboxError as error:  # no index is configured
                return _failed(Absent(Reason.NOT_COLLECTED, str(error)))

    async def _collect_package(self, wanted: WantedPackage, earlier: EarlierPackageRecord | None) -> _Collected:
        import httpx  # noqa: PLC0415  a scan of a remote reads no index

        from crawler.sandbox.toolchain.index_queries import authorise_requests  # noqa: PLC0415  with httpx

        index = await (self._indexes.npm() if wanted.ecosystem == NPM else self._indexes.python())
        most = self._limits.document
        transport = await index_transport(self._engine, index, most_bytes=most)
        hooks = authorise_requests(index.credentials)
        async with httpx.AsyncClient(transport=transport, event_hooks=hooks, trust_env=False) as http:
            client = IndexClient(
                http, _INDEX_NAMES[wanted.ecosystem], clock=self._clock, sleep=self._sleep, retries=self._retries
            )
            probe = PackageProbe(client, most_bytes=most)
            known = earlier if earlier and earlier.is_repeatable(self.version) else None
            if known and known.archive and await probe.are_unchanged(known.read_documents(index)):
                observation = {**known.record.observation, **await self._volatile(probe, wanted)}
                return _Collected(known.content, known.archive, observation)
            if isinstance(index, NpmIndex):
                found = await probe_npm_package(probe, index, wanted.name, wanted.version)
            else:
                from crawler.collectors.package.python_probe import probe_python_project  # noqa: PLC0415  parses HTML

                found = await probe_python_project(probe, index, wanted.name, wanted.version)
            if isinstance(found, Absent):
                return _failed(found)
            return _Collected(
                Observed(canonical_json(found.body)),
                found.archive,
                {**_sources(probe, found), **await self._volatile(probe, wanted)},
            )

    async def _volatile(self, probe: PackageProbe, wanted: WantedPackage) -> dict[str, Json]:
        """Facts that change from run to run."""
        facts: dict[str, Json] = {earlier_record.LOOKED_AT: self._clock().isoformat()}
        template = self._downloads.get(wanted.ecosystem)
        if template:
            answer = await probe.fetch_object(
                "downloads", template.replace("{name}", quote(wanted.name)), npm_metadata.FULL_PACKUMENT
            )
            facts["downloads"] = _monthly(answer) if isinstance(answer, Mapping) else None
        return facts

    def _lifetime(self, collected: _Collected) -> timedelta:
        return self._limits.keep_failure if isinstance(collected.content, Absent) else self._limits.keep


def _failed(why: Absent) -> _Collected:
    return _Collected(why, why)


def _sources(probe: PackageProbe, found: PackageResult) -> dict[str, Json]:
    return {
        earlier_record.DOCUMENTS: [source.written for source in probe.read],
        earlier_record.INCOMPLETE: list[Json](probe.incomplete),
        earlier_record.ARCHIVE: earlier_record.archive_to_json(found.archive)
        if isinstance(found.archive, Archive)
        else None,
    }


def _monthly(answer: Members) -> int | None:
    """The count in `{"downloads": N}` or `{"data": {"last_month": N}}`, as the two public services answer."""
    for value in (answer.get("downloads"), as_object(answer.get("data")).get("last_month")):
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 53:
            return value
    return None


def _first(server: Server) -> WantedPackage | Absent:
    """The package of the first npm or PyPI target; else the reason names the other package types."""
    packages = [target for target in server.targets if target.type in {TargetType.NPM, TargetType.PYPI}]
    if packages:
        return _wanted(packages[0])
    others = sorted({target.type.value for target in server.targets if not target.type.is_remote})
    declared = f"only {', '.join(others)}" if others else "no package"
    return Absent(Reason.NO_PACKAGE, f"the server declares {declared}; npm and PyPI packages are looked up")


def _wanted(target: Target) -> WantedPackage | Absent:
    version = as_plain_text(target.version, LONGEST_VERSION)
    version = None if version in {"latest", "*"} else version
    try:
        match target.type:
            case TargetType.NPM:
                return WantedPackage("npm", normalise_npm_name(target.identifier), version)
            case TargetType.PYPI:
                normalise_pypi_name(target.identifier)
                return WantedPackage("PyPI", canonicalize_name(target.identifier), version)
    except UnusableAddress as error:
        return Absent(Reason.NO_PACKAGE, f"expected {error}")
    return Absent(Reason.NO_PACKAGE, f"{target.type.value} packages are not looked up")
