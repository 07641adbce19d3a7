"""Finds and downloads the source of a server: the archive of its repository's head, else of its package."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import BinaryIO, Final

from msgspec import Struct
from msgspec.structs import replace

from crawler.collectors.package.archives import Archive
from crawler.collectors.package.collector import PackageCollector
from crawler.collectors.package.indexes import index_transport
from crawler.collectors.package.shared_results import SharedResults
from crawler.collectors.repository.github import GitHub
from crawler.collectors.source.archive_download import download_archive
from crawler.http.address_guard import AddressGuard
from crawler.http.deadlines import pause_deadline
from crawler.http.engine import HttpEngine
from crawler.sandbox.errors import SandboxError
from crawler.sandbox.toolchain.configured_indexes import ConfiguredIndexes
from evidence.kinds import repository
from evidence.kinds.repository import Repository
from evidence.kinds.source import GITHUB
from evidence.model import Absent, Dossier, Reason, Target, TargetType

_LOOKED_AT: Final = "looked_at"
_KEPT: Final = timedelta(minutes=5)
_MOST_KEPT: Final = 4
_PACKAGES: Final = frozenset({TargetType.NPM, TargetType.PYPI})


class ArchiveOrigin(Struct, frozen=True, kw_only=True):
    """One archive. `archive` is the file of a package, None for a repository. `strip`: the number of outer folders.

    `seen_at` is when the repository was read, possibly in an earlier run; empty for now.
    """

    origin: str
    name: str
    ref: str
    subfolder: str = ""
    strip: int = 1
    archive: Archive | None = None
    seen_at: str = ""


class FetchLimits(Struct, frozen=True, kw_only=True):
    """Bytes of an archive as it is sent, seconds for all of it, and the number of simultaneous downloads."""

    packed: int = 128 * 1024 * 1024
    seconds: float = 300.0
    slots: int = 4


class ArchiveDownloads:
    """Downloads each archive once for all servers in it. `guard` also opens the operator's own GitHub."""

    def __init__(
        self,
        engine: HttpEngine,
        tarballs: GitHub | None,
        indexes: ConfiguredIndexes,
        clock: Callable[[], datetime],
        limits: FetchLimits,
        *,
        guard: AddressGuard | None = None,
    ) -> None:
        self._engine = engine
        self._tarballs = tarballs
        self._indexes = indexes
        self._limits = limits
        self._guard = guard
        self._slots = asyncio.Semaphore(limits.slots)
        self._files: SharedResults[tuple[str, str, str], BinaryIO | Absent] = SharedResults(
            clock, _lifetime, most=_MOST_KEPT
        )

    async def fetch(self, origin: ArchiveOrigin) -> BinaryIO | Absent:
        """The archive of an origin. The file is shared: read it through a separate file position."""
        return await self._files.get((origin.origin, origin.name, origin.ref), lambda: self._download(origin))

    async def _download(self, origin: ArchiveOrigin) -> BinaryIO | Absent:
        with pause_deadline():
            await self._slots.acquire()
        try:
            return await (self._download_package(origin.archive) if origin.archive else self._download_tarball(origin))
        finally:
            self._slots.release()

    async def _download_tarball(self, origin: ArchiveOrigin) -> BinaryIO | Absent:
        import httpx  # noqa: PLC0415  most scans download nothing

        from crawler.http.adapters import GuardedTransport  # noqa: PLC0415

        if self._tarballs is None:
            return Absent(Reason.NOT_COLLECTED, "no access to repositories is configured")
        address = await self._tarballs.tarball_address(origin.name, origin.ref)
        if isinstance(address, Absent):
            return address
        most = self._limits.packed
        limits = replace(
            self._engine.limits, total=self._limits.seconds, wire_bytes=most + most // 8, body_bytes=most + 1
        )
        transport = GuardedTransport(self._engine, guard=self._guard, limits=limits)
        async with httpx.AsyncClient(transport=transport, trust_env=False, timeout=self._limits.seconds) as client:
            return await download_archive(client, address, most=most, digest=None, missing=Reason.NO_REPOSITORY)

    async def _download_package(self, archive: Archive) -> BinaryIO | Absent:
        import httpx  # noqa: PLC0415

        from crawler.sandbox.toolchain.index_queries import authorise_requests  # noqa: PLC0415

        if archive.size is not None and archive.size > self._limits.packed:
            return Absent(Reason.TOO_LARGE, f"the archive has more than {self._limits.packed} bytes")
        try:
            index = await (self._indexes.npm() if archive.ecosystem == "npm" else self._indexes.python())
        except SandboxError as error:
            return Absent(Reason.NOT_COLLECTED, str(error))
        most = self._limits.packed
        transport = await index_transport(
            self._engine, index, most_bytes=most + most // 8, seconds=self._limits.seconds
        )
        hooks, seconds = authorise_requests(index.credentials), self._limits.seconds
        async with httpx.AsyncClient(
            transport=transport, event_hooks=hooks, trust_env=False, timeout=seconds
        ) as client:
            return await download_archive(
                client, archive.address, most=most, digest=archive.digest, missing=Reason.NO_PACKAGE
            )


def find_repository_archive(found: Dossier) -> ArchiveOrigin | Absent:
    """The archive of the repository's head, as this run read it."""
    content = found.read(repository.KIND)
    if isinstance(content, Absent):
        return content
    facts = Repository.parse(content.body)
    if not facts.head or not facts.name:
        return Absent(Reason.NO_REPOSITORY, "the repository is empty")
    stated = found.records[repository.KIND].observation.get(_LOOKED_AT)
    return ArchiveOrigin(
        origin=GITHUB,
        name=facts.name,
        ref=facts.head,
        subfolder=_folder(facts.subfolder),
        seen_at=stated if isinstance(stated, str) else "",
    )


def _folder(stated: str | None) -> str:
    """The folder as archives name it; segments that change nothing are left out."""
    return "/".join(part for part in (stated or "").replace("\\", "/").split("/") if part not in {"", "."})


async def find_package_archive(found: Dossier, packages: PackageCollector) -> ArchiveOrigin | Absent:
    target = find_package_target(found)
    if target is None:
        return Absent(Reason.NO_PACKAGE, "no npm or PyPI package is declared")
    archive = await packages.archive(target)
    if isinstance(archive, Absent):
        return archive
    strip = 0 if archive.kind == "wheel" else 1
    return ArchiveOrigin(origin=archive.ecosystem, name=archive.name, ref=archive.version, strip=strip, archive=archive)


def find_package_target(found: Dossier) -> Target | None:
    return next((target for target in found.server.targets if target.type in _PACKAGES), None)


def _lifetime(content: BinaryIO | Absent) -> timedelta:
    return timedelta(0) if isinstance(content, Absent) else _KEPT
