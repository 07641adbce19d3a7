"""The nouns of a lockfile: Dependency, Fault, Lockfile, Unreadable, and how findings become a lockfile."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeAlias

MAX_NAME = 512
MAX_TEXT = 256
MAX_FAULTS = 100
MAX_ENTRIES = 500_000
"""Packages, or entries that are not understood, of one file."""

_USERINFO = re.compile(r"(?<=//)[^/@\s?#]*@")
_QUERY = re.compile(r"(?<=[^\s])\?[^#\s]*")
_BAD_NAME = re.compile(r"[\s\x00-\x1f\x7f\ud800-\udfff]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


class Ecosystem(StrEnum):
    """Where a package lives, by the name that OSV gives the ecosystem."""

    NPM = "npm"
    PYPI = "PyPI"
    GO = "Go"
    CRATES = "crates.io"
    RUBYGEMS = "RubyGems"
    PACKAGIST = "Packagist"
    NUGET = "NuGet"
    MAVEN = "Maven"


class Relation(StrEnum):
    """Whether the project names the package itself. `unstated`: the file alone does not tell."""

    DIRECT = "direct"
    TRANSITIVE = "transitive"
    UNSTATED = "unstated"


class Scope(StrEnum):
    """Why a package may be missing from a running installation. A package without a scope is needed at run time."""

    DEV = "dev"
    OPTIONAL = "optional"
    PEER = "peer"


class Source(StrEnum):
    """Where the code of a package comes from. Only `registry` code is what advisories describe by version."""

    REGISTRY = "registry"
    GIT = "git"
    PATH = "path"
    URL = "url"
    WORKSPACE = "workspace"


@dataclass(frozen=True, slots=True)
class UnknownVersion:
    """The file gives no concrete version; `raw` is what it gives instead (a range, a commit, a tag, nothing)."""

    raw: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependency:
    """One locked package.

    `name` is the package that is really installed, normalised as its ecosystem does; `alias` is the name under which
    the project knows it, when that is another. `location` is the URL or path of a source that is no registry, without
    credentials.
    """

    ecosystem: Ecosystem
    name: str
    version: str | UnknownVersion
    relation: Relation = Relation.UNSTATED
    scopes: frozenset[Scope] = frozenset()
    source: Source = Source.REGISTRY
    location: str | None = None
    alias: str | None = None


class FaultKind(StrEnum):
    """What is wrong with a file, or with one entry of it."""

    TOO_LARGE = "too_large"
    TOO_DEEP = "too_deep"
    ENCODING = "encoding"
    SYNTAX = "syntax"
    DUPLICATE_KEY = "duplicate_key"
    REFUSED = "refused"  # valid, but with means that no tool writes and that serve attacks: aliases, tags, DTDs
    SHAPE = "shape"  # the syntax is right and the content is not a lockfile of this format
    ENTRY = "entry"  # one entry is not understood; the others are given
    TRUNCATED = "truncated"  # the end is missing, as far as can be seen
    MISSING = "missing"  # names packages that it does not hold
    ELSEWHERE = "elsewhere"  # part of the dependencies is in other files, which a reader of one file cannot see
    EMPTY = "empty"


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that is wrong; `line` and `column` count from 1 and are None where the parser cannot tell."""

    kind: FaultKind
    message: str
    line: int | None = None
    column: int | None = None


Finding: TypeAlias = Dependency | Fault
"""What a reader yields while it goes through a file."""


@dataclass(frozen=True, slots=True)
class Lockfile:
    """A file that could be read. With faults, its dependencies are what was understood and not all there is."""

    format: str
    dependencies: tuple[Dependency, ...]
    faults: tuple[Fault, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether the dependencies are all that the file locks, as far as the file can tell."""
        return not self.faults


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file from which nothing can be concluded, and why."""

    format: str
    fault: Fault


class InvalidLockfile(Exception):
    """Raised by a reader when nothing can be concluded from the file."""

    def __init__(self, kind: FaultKind, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.fault = Fault(kind, message, line, column)


def build_lockfile(form: str, findings: Iterable[Finding]) -> Lockfile:
    """Merge findings into a lockfile whose value does not depend on their order; Invalid passes through."""
    merged: dict[tuple[str, ...], Dependency] = {}
    faults: list[Fault] = []
    for finding in findings:
        match _checked(finding):
            case Dependency() as found:
                key = _identity(found)
                merged[key] = _merge(merged[key], found) if key in merged else found
            case Fault() as fault:
                faults.append(fault)
        if len(merged) > MAX_ENTRIES or len(faults) > MAX_ENTRIES:
            raise InvalidLockfile(FaultKind.TOO_LARGE, f"more than {MAX_ENTRIES} entries")
    return Lockfile(form, tuple(merged[key] for key in sorted(merged)), tuple(_shortened(faults)))


def to_printable_text(text: str) -> str:
    """Text from the file, fit for a message: short, without credentials, and without half characters."""
    cut = _SURROGATE.sub("\ufffd", strip_credentials(text))
    return cut if len(cut) <= MAX_TEXT else f"{cut[: MAX_TEXT - 1]}…"


def strip_credentials(location: str) -> str:
    """A URL without user, password and query, in which tokens stand too."""
    return _QUERY.sub("", _USERINFO.sub("", location)) if "//" in location else location


def _checked(finding: Finding) -> Finding:
    if isinstance(finding, Fault):
        return finding
    if not finding.name or len(finding.name) > MAX_NAME or _BAD_NAME.search(finding.name):
        return Fault(FaultKind.ENTRY, f"not the name of a package: {to_printable_text(finding.name)!r}")
    version = finding.version
    if isinstance(version, UnknownVersion):
        version = UnknownVersion(to_printable_text(version.raw))
    elif len(version) > MAX_TEXT:
        version = UnknownVersion(to_printable_text(version))
    if version is finding.version and finding.location is None and finding.alias is None:
        return finding
    location = None if finding.location is None else to_printable_text(finding.location)
    alias = None if finding.alias in {None, finding.name} else to_printable_text(finding.alias or "")
    return replace(finding, version=version, location=location, alias=alias)


def _identity(found: Dependency) -> tuple[str, ...]:
    version = ("?", found.version.raw) if isinstance(found.version, UnknownVersion) else ("", found.version)
    return (found.ecosystem, found.name, *version, found.source, found.location or "", found.alias or "")


def _merge(one: Dependency, other: Dependency) -> Dependency:
    """The same package found twice is direct if one of them is, and needed at run time if one of them is."""
    if one == other:
        return one
    relations = {one.relation, other.relation}
    relation = next(kind for kind in (Relation.DIRECT, Relation.UNSTATED, Relation.TRANSITIVE) if kind in relations)
    return replace(one, relation=relation, scopes=one.scopes & other.scopes)


def _shortened(faults: list[Fault]) -> Iterator[Fault]:
    ordered = sorted(set(faults), key=lambda fault: (fault.line or 0, fault.column or 0, fault.kind, fault.message))
    yield from ordered[:MAX_FAULTS]
    if len(ordered) > MAX_FAULTS:
        yield Fault(FaultKind.ENTRY, f"and {len(ordered) - MAX_FAULTS} more")
