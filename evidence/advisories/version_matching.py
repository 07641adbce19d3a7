"""Decides whether an advisory affects a version of a package (OSV schema, "Evaluation")."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from enum import Enum
from typing import Final, Protocol, TypeAlias

from packaging.version import Version

from evidence.advisories.osv_record import EVENTS, MAX_VERSION, Affected, Range
from evidence.lockfiles.lockfile import Ecosystem, UnknownVersion
from evidence.lockfiles.versions import parse_concrete_version

SEMVER_ORDER: Final = "SemVer"
"""The name of the order of SEMVER ranges; other orders have the name of their ecosystem."""

_PLACE: Final = {kind: place for place, kind in enumerate(EVENTS)}
_TOOLCHAIN = re.compile(r"(\d+\.\d+)(?:\.(\d+))?(rc|beta)(\d+)")
ECOSYSTEMS: Final = {ecosystem.value: ecosystem for ecosystem in Ecosystem}


class Unorderable(ValueError):
    """A text that has no place in the version order of its ecosystem."""


class Comparable(Protocol):
    """A sort key of versions."""

    def __lt__(self, other: Comparable, /) -> bool:
        """Whether it comes before the other."""
        ...


class VersionOrder(Protocol):
    """Orders versions as their ecosystem does."""

    def key(self, order: str, version: str) -> Comparable:
        """The sort key of a version; `order` is SEMVER_ORDER or an ecosystem. Raise Unorderable."""
        ...


class VersionMatch(Enum):
    """The result for a version. NO_VERSIONS: the advisory names the package and nothing to compare with."""

    AFFECTED = "affected"
    CLEAR = "clear"
    NO_VERSIONS = "no_versions"
    UNORDERED = "unordered"


_Key: TypeAlias = "tuple[int, Comparable | None]"


def match_version(parts: Sequence[Affected], version: str, order: VersionOrder) -> VersionMatch:
    """The result of an advisory's parts about one package for a version.

    A listed version is affected, whatever the ranges state. A `version` that is not valid in its ecosystem and not
    listed
    is UNORDERED if there is a range to compare it with.
    """
    verdicts = {_judge_part(part, version, order) for part in parts}
    for verdict in (VersionMatch.AFFECTED, VersionMatch.UNORDERED, VersionMatch.NO_VERSIONS):
        if verdict in verdicts:
            return verdict
    return VersionMatch.CLEAR


def find_fixed_versions(parts: Iterable[Affected], version: str, order: VersionOrder) -> list[str]:
    """The fixed versions above ours that the parts name, lowest first; each text once."""
    found: dict[str, _Key] = {}
    for part in parts:
        named = {event.version for span in part.ranges for event in span.events if event.kind == "fixed"}
        for text in named - found.keys():
            try:
                key = _key(part.ecosystem, text, order)
                if _key(part.ecosystem, version, order) < key:
                    found[text] = key
            except Unorderable:
                continue
    return sorted(found, key=lambda text: found[text])


def normalize_version(ecosystem: str, text: str) -> str | None:
    """The version in the form in which it is compared; None when it is not a version of the ecosystem."""
    known = ECOSYSTEMS.get(ecosystem)
    found = parse_concrete_version(known, text) if known else UnknownVersion(text)
    if isinstance(found, UnknownVersion):
        return None
    if known is Ecosystem.PYPI:
        return str(Version(found))  # advisories list versions as PEP 440 writes them
    if known is Ecosystem.GO and (toolchain := _TOOLCHAIN.fullmatch(found)):
        minor, patch, stage, number = toolchain.groups()
        return f"{minor}.{patch or 0}-{stage}.{number}"
    return found.removeprefix("v") if known in {Ecosystem.NPM, Ecosystem.CRATES} else found


def _judge_part(part: Affected, version: str, order: VersionOrder) -> VersionMatch:
    if version in part.versions:
        return VersionMatch.AFFECTED
    if not part.ranges:
        return VersionMatch.CLEAR if part.versions else VersionMatch.NO_VERSIONS
    ordered = True
    for span in part.ranges:
        try:
            if _contains(span, version, order, _order_of(part, span)):
                return VersionMatch.AFFECTED
        except Unorderable:
            ordered = False
    return VersionMatch.CLEAR if ordered else VersionMatch.UNORDERED


def _contains(span: Range, version: str, order: VersionOrder, name: str) -> bool:
    ours = _key(name, version, order)
    affected = False
    limits: list[_Key] = []
    events = sorted(span.events, key=lambda event: _PLACE[event.kind])
    for key, event in sorted(((_key(name, event.version, order), event) for event in events), key=lambda pair: pair[0]):
        match event.kind:
            case "introduced":
                affected = affected or not ours < key
            case "fixed":
                affected = affected and ours < key
            case "last_affected":
                affected = affected and not key < ours
            case _:
                limits.append(key)
    return affected and (not limits or any(ours < limit for limit in limits))


def _key(name: str, text: str, order: VersionOrder) -> _Key:
    """`0` is below and `*` above every version."""
    if text in {"0", "*"}:
        return (0 if text == "0" else 2), None
    if not text or len(text) > MAX_VERSION:
        raise Unorderable("empty or too long")
    return 1, order.key(name, text)


def _order_of(part: Affected, span: Range) -> str:
    return SEMVER_ORDER if span.semver else part.ecosystem
