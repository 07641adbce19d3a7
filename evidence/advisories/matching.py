"""Packages against advisories: which are affected, of which nothing can be said, and the groups of a receipt."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from evidence.advisories.affecting import Verdict, VersionOrder, fixes, judge, version_of
from evidence.advisories.aliases import closures
from evidence.advisories.record import Advisory, Affected, compared, moment
from evidence.advisories.severity import rank, rate
from evidence.kinds.advisories import Group, Reach, Unmatched

MAX_IDS: Final = 50


class Why(StrEnum):
    """Why nothing can be said of a package."""

    NOT_A_VERSION = "not_a_version"
    ECOSYSTEM_MISSING = "ecosystem_missing"
    NOT_FROM_REGISTRY = "not_from_registry"
    UNORDERED = "unordered"
    NO_VERSIONS = "no_versions"
    NOT_ANSWERED = "not_answered"


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """One version of one package that a server is built from. `version` None: it is not known, and `raw` says more."""

    ecosystem: str
    name: str
    version: str | None
    relation: Reach = Reach.UNKNOWN
    scopes: frozenset[str] = frozenset()
    raw: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Ecosystem and name, as advisories are looked up."""
        return self.ecosystem, compared(self.ecosystem, self.name)


@dataclass(frozen=True, slots=True)
class Candidate:
    """An advisory that names a package, and what it says of it. Withdrawn advisories are no candidates."""

    id: str
    parts: tuple[Affected, ...]


@dataclass(frozen=True, slots=True)
class Hit:
    """An advisory that affects a package."""

    package: Package
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """What came out: versions that were compared, hits, and packages of which not all can be said."""

    checked: int
    hits: tuple[Hit, ...]
    unknown: tuple[Unmatched, ...]


LookUp: TypeAlias = Callable[[str, str], Iterable[Candidate]]
"""The candidates of an ecosystem and a name."""


def examine(
    packages: Iterable[Package], ecosystems: Collection[str], candidates: LookUp, order: VersionOrder
) -> Examined:
    """Compare packages with the advisories of these ecosystems; a package that is given twice counts once."""
    checked = 0
    hits: list[Hit] = []
    unknown: set[tuple[str, str, str, str]] = set()
    for package in merged(packages):
        shown = (package.ecosystem, package.name, package.version or package.raw)
        if package.ecosystem not in ecosystems:
            unknown.add((*shown, Why.ECOSYSTEM_MISSING))
            continue
        version = version_of(package.ecosystem, package.version) if package.version else None
        checked += version is not None
        if version is None:
            unknown.add((*shown, Why.NOT_A_VERSION))
        for candidate in candidates(*package.key):
            match _verdict(candidate, version, package, order):
                case Verdict.AFFECTED:
                    hits.append(Hit(package, candidate.id))
                case Verdict.UNORDERED | Verdict.NO_VERSIONS as verdict if version is not None:
                    unknown.add((*shown, verdict.value))
                case _:
                    pass
    left = (Unmatched(ecosystem=one, name=name, version=text, why=why) for one, name, text, why in sorted(unknown))
    return Examined(checked=checked, hits=tuple(hits), unknown=tuple(left))


def group(
    hits: Sequence[Hit], advisories: Mapping[str, Advisory], order: VersionOrder, named: Mapping[str, Sequence[str]]
) -> tuple[Group, ...]:
    """The flaws behind the hits, one group per package and flaw, the worst first.

    `advisories` are the records of the hits; `named` are aliases that further records name, so that two advisories
    which name no common id are joined by a third.
    """
    names = {**named, **{record.id: record.aliases for record in advisories.values()}}
    flaws = {name: flaw for flaw in closures(advisories, names) for name in flaw}
    grouped: dict[tuple[Package, tuple[str, ...]], list[Advisory]] = {}
    for hit in hits:
        if record := advisories.get(hit.id):
            grouped.setdefault((hit.package, flaws[hit.id]), []).append(record)
    groups = (_group(package, flaw, records, order) for (package, flaw), records in grouped.items())
    return tuple(sorted(groups, key=_worst_first))


def merged(packages: Iterable[Package]) -> list[Package]:
    """Each version of a package once: by the shortest way to it, and needed at run time if one of its uses is."""
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
    )


def _verdict(candidate: Candidate, version: str | None, package: Package, order: VersionOrder) -> Verdict:
    """A text that is no version, and the text as it was written, are only looked up among listed versions."""
    if package.version and any(package.version in part.versions for part in candidate.parts):
        return Verdict.AFFECTED
    return Verdict.UNORDERED if version is None else judge(candidate.parts, version, order)


def _group(package: Package, flaw: tuple[str, ...], records: Sequence[Advisory], order: VersionOrder) -> Group:
    rating = rate(records)
    fixed, fixing = _fix(package, records, order)
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
    )


def _fix(package: Package, records: Sequence[Advisory], order: VersionOrder) -> tuple[str, list[Advisory]]:
    """The lowest version above ours that no record affects, and the records that name a version which fixes."""
    version = version_of(package.ecosystem, package.version or "")
    if version is None:
        return "", []
    parts = {record.id: record.about(*package.key) for record in records}
    offered = {record.id: fixes(parts[record.id], version, order) for record in records}
    everything = [part for found in parts.values() for part in found]
    for text in fixes(everything, version, order):
        if all(judge(found, text, order) is Verdict.CLEAR for found in parts.values()):
            return text, [record for record in records if offered[record.id]]
    return "", []


def _first(dates: Iterable[str]) -> str:
    return min((date for date in dates if date), key=lambda date: (moment(date), date), default="")


def _worst_first(found: Group) -> tuple[object, ...]:
    return (
        rank(found.severity),
        -float(found.cvss or 0),
        list(Reach).index(found.relation),
        found.ecosystem,
        found.package,
        found.version,
        found.ids,
    )


def unknown_of(packages: Iterable[Package], why: Why) -> Iterator[Unmatched]:
    """Packages of which nothing can be said, all for one reason."""
    for package in merged(packages):
        shown = package.version or package.raw
        yield Unmatched(ecosystem=package.ecosystem, name=package.name, version=shown, why=why)
