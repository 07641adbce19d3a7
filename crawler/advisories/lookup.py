"""Looks packages up in the mirror or by the API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from crawler.advisories.mirror import EcosystemState, Mirror
from crawler.advisories.mirror_refresh import ECOSYSTEMS
from crawler.advisories.osv_api import OsvApi, Version
from evidence.advisories.osv_record import Advisory, Affected
from evidence.advisories.package_matching import (
    Candidate,
    MatchResult,
    Package,
    UnmatchedReason,
    group_matches,
    list_unmatched,
    match_packages,
    merge_packages,
)
from evidence.advisories.version_matching import VersionOrder, normalize_version
from evidence.kinds.advisories import Group, Unmatched

STALE_AFTER: Final = timedelta(days=7)

MIRROR: Final = "mirror"
API: Final = "api"


class LookupResult(Struct, frozen=True, kw_only=True):
    """The result of a lookup `by` mirror or API. `ecosystems` are those that were searched, `states` their states in
    the mirror.
    """

    by: str
    checked: int
    groups: tuple[Group, ...]
    unknown: tuple[Unmatched, ...]
    ecosystems: tuple[str, ...]
    states: tuple[EcosystemState, ...] = ()

    def stale(self, now: datetime, after: timedelta = STALE_AFTER) -> list[str]:
        """The ecosystems whose mirror is too old."""
        return [state.name for state in self.states if state.is_stale(now, after)]

    def partial(self) -> list[str]:
        """The ecosystems whose mirror is incomplete."""
        return [state.name for state in self.states if state.partial]


def look_up_in_mirror(mirror: Mirror, packages: Sequence[Package], order: VersionOrder) -> LookupResult | None:
    """Look packages up in one state of the mirror; None when there is no mirror. Raise MirrorUnreadable. Blocks."""
    with mirror.snapshot() as snapshot:
        if snapshot is None or not snapshot.states:
            return None
        examined = match_packages(packages, snapshot.ecosystems, snapshot.candidates, order)
        records = snapshot.advisories((hit.package.ecosystem, hit.id) for hit in examined.hits)
        groups = group_matches(examined.hits, records, order, snapshot.named(records))
        used = {package.ecosystem for package in packages}
        states = tuple(state for state in snapshot.states if state.name in used)
        return _lookup_result(MIRROR, examined, groups, tuple(state.name for state in states), states)


async def look_up_by_api(api: OsvApi, packages: Sequence[Package], order: VersionOrder) -> LookupResult:
    """Look packages up by the API. The result is matched here again, so that both ways decide alike.

    Raise AdvisoriesUnavailable.
    """
    wanted = merge_packages(packages)
    versions = {package: asked for package in wanted if (asked := _asked(package))}
    queries = sorted(set(versions.values()))
    answers = dict(zip(queries, await api.affecting(queries), strict=True))
    records = await api.records(sorted({name for ids in answers.values() for name in ids or ()}))
    candidates = _candidates(answers, records)
    silent = [package for package, asked in versions.items() if answers[asked] is None]
    left = set(wanted) - set(silent)
    examined = match_packages(left, ECOSYSTEMS, lambda *key: candidates.get(key, {}).values(), order)
    examined = replace(examined, unknown=(*examined.unknown, *list_unmatched(silent, UnmatchedReason.NOT_ANSWERED)))
    used = tuple(sorted({ecosystem for ecosystem, _, _ in queries}))
    return _lookup_result(API, examined, group_matches(examined.hits, records, order, {}), used, ())


def _candidates(
    answers: Mapping[Version, frozenset[str] | None], records: dict[str, Advisory]
) -> Mapping[tuple[str, str], Mapping[str, Candidate]]:
    """Candidates by package and id. A record that is not available is represented by its id alone, added to the
    records.
    """
    found: dict[tuple[str, str], dict[str, Candidate]] = {}
    for query, ids in answers.items():
        known = found.setdefault(query[:2], {})
        for name in sorted(ids or ()):
            record = records.setdefault(name, Advisory(id=name, modified=""))
            if not record.withdrawn:
                known[name] = _candidate(record, query, known.get(name))
    return found


def _asked(package: Package) -> Version | None:
    if package.ecosystem not in ECOSYSTEMS:
        return None
    version = normalize_version(package.ecosystem, package.version) if package.version else None
    return (*package.key, version) if version else None


def _candidate(record: Advisory, query: Version, known: Candidate | None) -> Candidate:
    """The candidate for the package of a record. An unavailable record affects at least the requested version."""
    ecosystem, name, text = query
    parts = record.about(ecosystem, name)
    if parts:
        return Candidate(record.id, parts)
    listed = frozenset({text, *(one for part in (known.parts if known else ()) for one in part.versions)})
    return Candidate(record.id, (Affected(ecosystem=ecosystem, name=name, versions=listed),))


def _lookup_result(
    by: str,
    examined: MatchResult,
    groups: tuple[Group, ...],
    ecosystems: tuple[str, ...],
    states: tuple[EcosystemState, ...],
) -> LookupResult:
    return LookupResult(
        by=by, checked=examined.checked, groups=groups, unknown=examined.unknown, ecosystems=ecosystems, states=states
    )
