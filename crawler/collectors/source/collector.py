"""SourceCollector: the source of a server, its dependencies and the secrets in it, all from one archive."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from crawler.archives import Bounds
from crawler.collector import Scarce, make_record
from crawler.collectors.earlier_values import CARRIED_FROM, parse_body, parse_time
from crawler.collectors.package.collector import PackageCollector
from crawler.collectors.package.shared_results import SharedResults
from crawler.collectors.repository.github import GitHub
from crawler.collectors.source.archive_origin import (
    ArchiveDownloads,
    ArchiveOrigin,
    FetchLimits,
    find_package_archive,
    find_repository_archive,
)
from crawler.collectors.source.dependencies import InstallationSource, find_dependencies_elsewhere
from crawler.collectors.source.reader_pool import ReaderPool
from crawler.collectors.source.reading_task import ReadingResult, ReadingTask
from crawler.http.address_guard import AddressGuard
from crawler.http.engine import HttpEngine
from crawler.sandbox.toolchain.configured_indexes import ConfiguredIndexes
from evidence.canonical import Json, canonical_json
from evidence.kinds import dependencies, listing, secrets, source
from evidence.kinds.traits import schemas
from evidence.model import Absent, Dossier, Observed, Reason, Record

VERSION: Final = 2
MAX_CARRY_AGE: Final = timedelta(days=14)
LOOKED_AT: Final = "looked_at"
CARRIED: Final = "carried"
TOO_LARGE: Final = "too_large"

_OWN_FAILURES: Final = frozenset(
    {Reason.RATE_LIMITED, Reason.TIMEOUT, Reason.UNREACHABLE, Reason.TLS_ERROR, Reason.NOT_COLLECTED,
     Reason.COLLECTOR_ERROR, Reason.COLLECTOR_OFFLINE, Reason.QUARANTINED, Reason.SANDBOX_RESTRICTED,
     Reason.NO_SANDBOX}
)  # fmt: skip
"""Reasons that are failures of ours: the earlier content then stands for some days."""

_KEPT: Final = timedelta(minutes=5)
_MOST_KEPT: Final = 8


class SourceLimits(Struct, frozen=True, kw_only=True):
    """Bounds of downloading and of walking through an archive; the readers bound the reading."""

    fetching: FetchLimits = field(default_factory=FetchLimits)
    walking: Bounds = field(default_factory=Bounds)


class _Content(Struct, frozen=True):
    content: Observed | Absent
    observation: Mapping[str, Json]


class SourceCollector:
    """Follower for kinds `source`, `dependencies` and `secrets` (docs/decisions/0018).

    `rules` is the digest of the secret rules of the readers: other rules require another reading. Use one per process:
    it holds results that several servers of one repository share.
    """

    name: Final = "source"
    version: Final = VERSION
    kinds: Final = (source.KIND, dependencies.KIND, secrets.KIND)
    needs: Final = Scarce.PROCESSOR

    def __init__(
        self,
        engine: HttpEngine,
        readers: ReaderPool,
        packages: PackageCollector,
        indexes: ConfiguredIndexes,
        clock: Callable[[], datetime],
        *,
        rules: str,
        limits: SourceLimits | None = None,
        tarballs: GitHub | None = None,
        sboms: GitHub | None = None,
        installs: InstallationSource | None = None,
        guard: AddressGuard | None = None,
    ) -> None:
        """Without `tarballs` only packages are read. Without `installs` packages without lockfiles have no
        dependencies.
        """
        self._readers = readers
        self._packages = packages
        self._clock = clock
        self._limits = limits or SourceLimits()
        self._rules = rules
        self._sboms = sboms
        self._installs = installs
        self._fetches = ArchiveDownloads(engine, tarballs, indexes, clock, self._limits.fetching, guard=guard)
        self._readings: SharedResults[tuple[str, str, str, str], ReadingResult | Absent] = SharedResults(
            clock, _lifetime, most=_MOST_KEPT
        )

    async def follow(self, found: Dossier, earlier: Dossier) -> list[Record]:
        origin = find_repository_archive(found)
        if isinstance(origin, Absent) and origin.reason in _OWN_FAILURES and self._is_still_valid(earlier, source.KIND):
            # The repository may exist. Reading its package instead would change the score because of our failure.
            return [self._record(found, kind, self._earlier(earlier, kind, origin)) for kind in self.kinds]
        contents, used_origin = await self._read(found, earlier, origin)
        contents[dependencies.KIND] = await self._collect_dependencies(found, earlier, used_origin, contents)
        return [self._record(found, kind, contents[kind]) for kind in self.kinds]

    async def _read(
        self, found: Dossier, earlier: Dossier, origin: ArchiveOrigin | Absent
    ) -> tuple[dict[str, _Content], ArchiveOrigin | None]:
        """Contents by kind of the repository, else of the package; `dependencies` only from a lockfile."""
        if isinstance(origin, Absent):
            return await self._read_package(found, earlier, refused=origin)
        contents = await self._collect(origin, earlier)
        if not isinstance(contents, Absent):
            return contents, origin
        if contents.reason in _OWN_FAILURES:
            return self._unread(earlier, contents), origin
        instead, used_origin = await self._read_package(found, earlier, refused=contents)
        return self._with_too_large_note(instead, origin, contents, earlier), used_origin

    async def _read_package(
        self, found: Dossier, earlier: Dossier, *, refused: Absent
    ) -> tuple[dict[str, _Content], ArchiveOrigin | None]:
        """The same of the package; `refused` is why the repository was not read."""
        package = await find_package_archive(found, self._packages)
        if isinstance(package, Absent):
            return self._unread(earlier, refused if package.reason is Reason.NO_PACKAGE else package), None
        contents = await self._collect(package, earlier)
        if not isinstance(contents, Absent):
            return contents, package
        return self._with_too_large_note(self._unread(earlier, contents), package, contents, earlier), None

    def _with_too_large_note(
        self, contents: dict[str, _Content], origin: ArchiveOrigin, why: Absent, earlier: Dossier
    ) -> dict[str, _Content]:
        """The contents with a note that an archive was too large, so that the next runs do not download it again."""
        if why.reason is not Reason.TOO_LARGE:
            return contents
        known = _note(earlier)
        since = known["at"] if known.get("of") == _key(origin) else self._clock().isoformat()
        note: dict[str, Json] = {TOO_LARGE: {"of": _key(origin), "why": why.detail, "at": since}}
        return {kind: replace(each, observation={**each.observation, **note}) for kind, each in contents.items()}

    def _too_large(self, origin: ArchiveOrigin, earlier: Dossier) -> Absent | None:
        """The note of an earlier run about this very archive; after some days it is tried again."""
        known = _note(earlier)
        if known.get("of") != _key(origin) or not self._is_recent(known.get("at")):
            return None
        return Absent(Reason.TOO_LARGE, str(known.get("why", "")))

    async def _collect(self, origin: ArchiveOrigin, earlier: Dossier) -> dict[str, _Content] | Absent:
        if (large := self._too_large(origin, earlier)) is not None:
            return large
        # If GitHub was unreachable and an earlier head was repeated, the source is as old as that head.
        observation: dict[str, Json] = {LOOKED_AT: origin.seen_at or self._clock().isoformat()}
        if self._is_known(earlier, origin):
            carried = {**observation, CARRIED: True}
            return {
                kind: _Content(record.content, carried)
                for kind, record in earlier.records.items()
                if kind in self.kinds and isinstance(record.content, Observed) and not _is_of_installation(record)
            }
        reading = await self._readings.get(
            (origin.origin, origin.name, origin.ref, origin.subfolder), lambda: self._read_archive(origin)
        )
        if isinstance(reading, Absent):
            return reading
        bodies = {source.KIND: reading.source, secrets.KIND: reading.secrets, dependencies.KIND: reading.dependencies}
        return {
            kind: _Content(Observed(canonical_json(dict(body))), observation)
            for kind, body in bodies.items()
            if body is not None
        }

    async def _read_archive(self, origin: ArchiveOrigin) -> ReadingResult | Absent:
        file = await self._fetches.fetch(origin)
        if isinstance(file, Absent):
            return file
        task = ReadingTask(
            origin=origin.origin,
            name=origin.name,
            ref=origin.ref,
            subfolder=origin.subfolder,
            strip=origin.strip,
            bounds=self._limits.walking,
        )
        return await self._readers.read_archive(file, task)

    async def _collect_dependencies(
        self, found: Dossier, earlier: Dossier, origin: ArchiveOrigin | None, contents: Mapping[str, _Content]
    ) -> _Content:
        known = contents.get(dependencies.KIND)
        if known is not None and isinstance(known.content, Observed):
            return known
        installed = _find_carried_installation(found, earlier)
        if installed is not None and self._is_still_valid(earlier, dependencies.KIND):
            return _Content(installed.content, installed.observation)
        keeps_sbom = self._is_still_valid(earlier, dependencies.KIND) and _taken_from(earlier) == dependencies.SBOM
        body = await find_dependencies_elsewhere(
            found, origin, self._sboms, self._installs, own_failures=_OWN_FAILURES if keeps_sbom else frozenset()
        )
        if isinstance(body, Absent):
            return self._earlier(earlier, dependencies.KIND, body)
        return _Content(Observed(canonical_json(body)), {LOOKED_AT: self._clock().isoformat()})

    def _is_known(self, earlier: Dossier, origin: ArchiveOrigin) -> bool:
        """Whether an earlier run read this very archive with this version and these rules."""
        for kind in (source.KIND, secrets.KIND):
            record = earlier.records.get(kind)
            stated = parse_body(record)
            if record is None or (record.collector, record.collector_version) != (self.name, VERSION):
                return False
            if record.schema != schemas()[kind] or not isinstance(record.content, Observed):
                return False
            if (stated.get("origin"), stated.get("name"), stated.get("ref")) != (
                origin.origin,
                origin.name,
                origin.ref,
            ):
                return False
            if kind == source.KIND and (stated.get("subfolder") or "") != origin.subfolder:
                return False
            if kind == secrets.KIND and stated.get("rules") != self._rules:
                return False
        return True

    def _unread(self, earlier: Dossier, why: Absent) -> dict[str, _Content]:
        """The earlier contents; of dependencies only those from a lockfile, which no other source replaces."""
        locked = why.reason in _OWN_FAILURES and self._is_still_valid(earlier, dependencies.KIND)
        locked = locked and _taken_from(earlier) == dependencies.LOCKFILE
        kinds = self.kinds if locked else (source.KIND, secrets.KIND)
        return {kind: self._earlier(earlier, kind, why) for kind in kinds}

    def _earlier(self, earlier: Dossier, kind: str, why: Absent) -> _Content:
        """The earlier content when the failure is ours and that content is young enough; else the absence."""
        record = earlier.records.get(kind)
        if record is None or why.reason not in _OWN_FAILURES or not self._is_still_valid(earlier, kind):
            return _Content(why, {})
        return _Content(record.content, record.observation)

    def _is_still_valid(self, earlier: Dossier, kind: str) -> bool:
        record = earlier.records.get(kind)
        if record is None or not isinstance(record.content, Observed):
            return False
        return self._is_recent(record.observation.get(LOOKED_AT))

    def _is_recent(self, stated: Json) -> bool:
        time = parse_time(stated)
        return time is not None and self._clock() - time <= MAX_CARRY_AGE

    def _record(self, found: Dossier, kind: str, content: _Content) -> Record:
        return make_record(self, found.server, kind, content.content, content.observation, at=self._clock())


def _is_of_installation(record: Record) -> bool:
    """Whether the dependencies are those of an installation, which changes without the source."""
    return record.kind == dependencies.KIND and parse_body(record).get("from") == dependencies.INSTALLED


def _find_carried_installation(found: Dossier, earlier: Dossier) -> Record | None:
    """The dependencies of the installation whose start is carried over in this run: it did not change since."""
    started, record = found.records.get(listing.KIND), earlier.records.get(dependencies.KIND)
    if started is None or CARRIED_FROM not in started.observation or record is None:
        return None
    looked_at = parse_time(record.observation.get(LOOKED_AT))
    is_same = looked_at is not None and looked_at >= started.observed_at
    return record if is_same and _is_of_installation(record) else None


def _taken_from(earlier: Dossier) -> Json:
    return parse_body(earlier.records.get(dependencies.KIND)).get("from")


def _note(earlier: Dossier) -> Mapping[str, Json]:
    """The note of an earlier run about an archive that was too large."""
    record = earlier.records.get(source.KIND)
    note = record.observation.get(TOO_LARGE) if record else None
    return note if isinstance(note, Mapping) else {}


def _key(origin: ArchiveOrigin) -> str:
    return f"{origin.origin}:{origin.name}@{origin.ref}#{origin.subfolder}"


def _lifetime(reading: ReadingResult | Absent) -> timedelta:
    return timedelta(0) if isinstance(reading, Absent) else _KEPT
