"""Matches packages with advisories: affected packages, packages without a result, and the groups of a receipt."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final, TypeAlias

from msgspec import Struct

from evidence.advisories.aliases import group_aliases
from evidence.advisories.osv_record import Advisory, Affected, normalize_name, parse_timestamp
from evidence.advisories.severity import rank_severity, rate_flaw
from evidence.advisories.version_matching import (
    ECOSYSTEMS,
    VersionMatch,
    VersionOrder,
    find_fixed_versions,
    match_version,
    normalize_version,
)
from evidence.kinds.advisories import Group, Reach, Unmatched
from evidence.lockfiles.lockfile import MAX_VIA, merge_ranges
from evidence.lockfiles.ranges import admits_version

MAX_IDS: Final = 50


class UnmatchedReason(StrEnum):
    """Why there is no result for a package."""

    NOT_A_VERSION = "not_a_version"
    ECOSYSTEM_MISSING = "ecosystem_missing"
    NOT_FROM_REGISTRY = "not_from_registry"
    UNORDERED = "unordered"
    NO_VERSIONS = "no_versions"
    NOT_ANSWERED = "not_answered"


class Package(Struct, frozen=True, kw_only=True):
    """One version of one package that a server is built from. `version` is None when unknown; `raw` is the original
    text. `via`, `imported` and `ranges` are those of the dependency, `lock` the format of its lockfile.
    """

    ecosystem: str
    name: str
    version: str | None
    relation: Reach = Reach.UNKNOWN
    scopes: frozenset[str] = frozenset()
    raw: str = ""
    via: tuple[str, ...] = ()
    imported: bool | None = None
    ranges: tuple[tuple[str, str], ...] = ()
    lock: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Ecosystem and name, the key of an advisory lookup."""
        return self.ecosystem, normalize_name(self.ecosystem, self.name)


class Candidate(Struct, frozen=True):
    """An advisory that names a package, and its statements about it. Withdrawn advisories are no candidates."""

    id: str
    parts: tuple[Affected, ...]


class AdvisoryMatch(Struct, frozen=True):
    """An advisory that affects a package."""

    package: Package
    id: str


class MatchResult(Struct, frozen=True, kw_only=True):
    """The number of compared versions, the matches, and packages without a complete result."""

    checked: int
    hits: tuple[AdvisoryMatch, ...]
    unknown: tuple[Unmatched, ...]


CandidateLookup: TypeAlias = Callable[[str, str], Iterable[Candidate]]
"""The candidates for an ecosystem and a name."""


def match_packages(
    packages: Iterable[Package], ecosystems: Collection[str], candidates: CandidateLookup, order: VersionOrder
) -> MatchResult:
    """Compare packages with the advisories of these ecosystems; a package that is given twice counts once."""
    checked = 0
    hits: list[AdvisoryMatch] = []
    unknown: set[tuple[str, str, str, str]] = set()
    for package in merge_packages(packages):
        shown = (package.ecosystem, package.name, package.version or package.raw)
        if package.ecosystem not in ecosystems:
            unknown.add((*shown, UnmatchedReason.ECOSYSTEM_MISSING))
            continue
        version = normalize_version(package.ecosystem, package.version) if package.version else None
        checked += version is not None
        if version is None:
            unknown.add((*shown, UnmatchedReason.NOT_A_VERSION))
        for candidate in candidates(*package.key):
            match _verdict(candidate, version, package, order):
                case VersionMatch.AFFECTED:
                    hits.append(AdvisoryMatch(package, candidate.id))
                case VersionMatch.UNORDERED | VersionMatch.NO_VERSIONS as verdict if version is not None:
                    unknown.add((*shown, verdict.value))
                case _:
                    pass
    left = (Unmatched(ecosystem=one, name=name, version=text, why=why) for one, name, text, why in sorted(unknown))
    return MatchResult(checked=checked, hits=tuple(hits), unknown=tuple(left))


def group_matches(
    hits: Sequence[AdvisoryMatch],
    advisories: Mapping[str, Advisory],
    order: VersionOrder,
    named: Mapping[str, Sequence[str]],
) -> tuple[Group, ...]:
    """The flaws of the matches, one group for each package and flaw, the worst first.

    `advisories` are the records of the matches. `named` are aliases in further records, so that two advisories without
    a
    common id are joined by a third.
    """
    names = {**named, **{record.id: record.aliases for record in advisories.values()}}
    flaws = {name: flaw for flaw in group_aliases(advisories, names) for name in flaw}
    grouped: dict[tuple[Package, tuple[str, ...]], list[Advisory]] = {}
    for hit in hits:
        if record := advisories.get(hit.id):
            grouped.setdefault((hit.package, flaws[hit.id]), []).append(record)
    groups = (_group(package, flaw, records, order) for (package, flaw), records in grouped.items())
    return tuple(sorted(groups, key=_worst_first))


def merge_packages(packages: Iterable[Package]) -> list[Package]:
    """Each version of a package once: with the closest relation, and needed at run time if one of its uses is."""
    found: dict[tuple[str, str, str], Package] = {}
    for package in packages:
        key = (*package.key, package.version or f"?{package.raw}")
        known = found.get(key)
        found[key] = _joined(known, package) if known else package
    return [found[key] for key in sorted(found)]


def _joined(one: Package, other: Package) -> Package:
    nearest = min(one.relation, other.relation, key=list(Reach).index)
    return Package(
        ecosystem=one.ecosystem,
        name=min(one.name, other.name),
        version=one.version,
        relation=nearest,
        scopes=one.scopes & other.scopes,
        raw=one.raw,
        via=tuple(sorted({*one.via, *other.via}))[:MAX_VIA] if nearest is not Reach.DIRECT else (),
        imported=one.imported if one.imported == other.imported else one.imported or other.imported or None,
        ranges=merge_ranges(one.ranges, other.ranges),
        lock=one.lock if one.lock == other.lock else "",
    )


def _verdict(candidate: Candidate, version: str | None, package: Package, order: VersionOrder) -> VersionMatch:
    """The version as written is searched among the listed versions; only a normalised one is compared with ranges."""
    if package.version and any(package.version in part.versions for part in candidate.parts):
        return VersionMatch.AFFECTED
    return VersionMatch.UNORDERED if version is None else match_version(candidate.parts, version, order)


def _group(package: Package, flaw: tuple[str, ...], records: Sequence[Advisory], order: VersionOrder) -> Group:
    rating = rate_flaw(records)
    fixed, fixing = _fix(package, records, order)
    admitted, held_by = _judge_ranges(package, fixed)
    own = {record.id for record in records}
    summaries = {record.id: record.summary for record in records if record.summary}
    return Group(
        ids=flaw[:MAX_IDS],
        ecosystem=package.ecosystem,
        package=package.name,
        version=package.version or "",
        relation=package.relation,
        scopes=package.scopes,
        severity=rating.severity,
        cvss=rating.cvss,
        vector=rating.vector,
        fixed=fixed,
        published=_first(record.published for record in records),
        fixed_since=_first(record.published for record in fixing) if fixed else "",
        summary=next((summaries[name] for name in flaw if name in own and name in summaries), ""),
        via=package.via,
        imported=package.imported,
        lock=package.lock,
        admitted=admitted,
        held_by=held_by,
    )


def _judge_ranges(package: Package, fixed: str) -> tuple[bool | None, tuple[tuple[str, str], ...]]:
    """Whether all ranges admit the fixed version, and those that do not.

    Unknown when a range is not understood, or does not even admit our version, since an override stands above it.
    """
    ecosystem = ECOSYSTEMS.get(package.ecosystem)
    if not (fixed and ecosystem and package.ranges):
        return None, ()
    ours = [admits_version(ecosystem, declared, package.version or "") for _, declared in package.ranges]
    verdicts = [admits_version(ecosystem, declared, fixed) for _, declared in package.ranges]
    if not all(ours) or None in verdicts:
        return None, ()
    return all(verdicts), tuple(pair for pair, verdict in zip(package.ranges, verdicts, strict=True) if not verdict)


def _fix(package: Package, records: Sequence[Advisory], order: VersionOrder) -> tuple[str, list[Advisory]]:
    """The lowest version above ours that no record affects, and the records that name a fixed version."""
    version = normalize_version(package.ecosystem, package.version or "")
    if version is None:
        return "", []
    parts = {record.id: record.about(*package.key) for record in records}
    offered = {record.id: find_fixed_versions(parts[record.id], version, order) for record in records}
    everything = [part for found in parts.values() for part in found]
    for text in find_fixed_versions(everything, version, order):
        if all(match_version(found, text, order) is VersionMatch.CLEAR for found in parts.values()):
            return text, [record for record in records if offered[record.id]]
    return "", []


def _first(dates: Iterable[str]) -> str:
    return min((date for date in dates if date), key=lambda date: (parse_timestamp(date), date), default="")


def _worst_first(found: Group) -> tuple[object, ...]:
    return (
        rank_severity(found.severity),
        -float(found.cvss or 0),
        list(Reach).index(found.relation),
        found.ecosystem,
        found.package,
        found.version,
        found.ids,
    )


def list_unmatched(packages: Iterable[Package], why: UnmatchedReason) -> Iterator[Unmatched]:
    """The packages without a result, all for one reason."""
    for package in merge_packages(packages):
        shown = package.version or package.raw
        yield Unmatched(ecosystem=package.ecosystem, name=package.name, version=shown, why=why)
