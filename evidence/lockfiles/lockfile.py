"""Types of lockfiles: Dependency, Fault, Lockfile, Unreadable; and the merge of findings into a lockfile."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from evidence.compiled_on_use import compile_on_use

MAX_NAME = 512
MAX_TEXT = 256
MAX_FAULTS = 100
MAX_VIA = 3
"""Direct dependencies that are named for one transitive dependency."""
MAX_RANGES = 8
"""Ranges that are kept of one dependency. Of more none is kept, since an upgrade must suit all."""

MAX_ENTRIES = 500_000
"""Packages, or invalid entries, of one file."""

_RANGE = compile_on_use(r"[\w\s.*^~<>=!|,+-]*", re.ASCII)
_USERINFO = compile_on_use(r"(?<=//)[^/@\s?#]*@")
_QUERY = compile_on_use(r"(?<=[^\s])\?[^#\s]*")
_BAD_NAME = compile_on_use(r"[\s\x00-\x1f\x7f\ud800-\udfff]")
_SURROGATE = compile_on_use(r"[\ud800-\udfff]")


class Ecosystem(StrEnum):
    """The ecosystem of a package, by OSV's name for it."""

    NPM = "npm"
    PYPI = "PyPI"
    GO = "Go"
    CRATES = "crates.io"
    RUBYGEMS = "RubyGems"
    PACKAGIST = "Packagist"
    NUGET = "NuGet"
    MAVEN = "Maven"


class Relation(StrEnum):
    """Whether the project names the package itself. `unstated`: the file alone does not show it."""

    DIRECT = "direct"
    TRANSITIVE = "transitive"
    UNSTATED = "unstated"


class Scope(StrEnum):
    """Why a package may be missing from a running installation. A package without a scope is needed at run time."""

    DEV = "dev"
    OPTIONAL = "optional"
    PEER = "peer"


class Source(StrEnum):
    """The source of a package's code. Advisories describe only versions from a `registry`."""

    REGISTRY = "registry"
    GIT = "git"
    PATH = "path"
    URL = "url"
    WORKSPACE = "workspace"


class UnknownVersion(Struct, frozen=True):
    """The file contains no concrete version; `raw` is the text in its place (a range, a commit, a tag, or empty)."""

    raw: str


class Dependency(Struct, frozen=True, kw_only=True):
    """One locked package.

    `name` is the package that is installed, normalised for its ecosystem; `alias` is the project's own name for it, if
    it
    differs. `via` are the names of direct dependencies that bring a transitive one, as far as the format shows them.
    `ranges` are the declared ranges that the version must suit, each with a package that declares it, empty for the
    project itself; there are none where the format does not show all.
    `location` is the URL or path of a source other than a registry, without credentials.
    """

    ecosystem: Ecosystem
    name: str
    version: str | UnknownVersion
    relation: Relation = Relation.UNSTATED
    scopes: frozenset[Scope] = frozenset()
    source: Source = Source.REGISTRY
    location: str | None = None
    alias: str | None = None
    via: tuple[str, ...] = ()
    ranges: tuple[tuple[str, str], ...] = ()


class FaultKind(StrEnum):
    """The kind of a problem with a file or one of its entries."""

    TOO_LARGE = "too_large"
    TOO_DEEP = "too_deep"
    ENCODING = "encoding"
    SYNTAX = "syntax"
    DUPLICATE_KEY = "duplicate_key"
    REFUSED = "refused"  # valid, but with constructs that no tool writes and attacks use: aliases, tags, DTDs
    SHAPE = "shape"  # the syntax is valid, but the content is not a lockfile of this format
    ENTRY = "entry"  # one entry is invalid; the others are kept
    TRUNCATED = "truncated"  # the file seems truncated
    MISSING = "missing"  # names packages that it does not contain
    ELSEWHERE = "elsewhere"  # some dependencies are in other files, which are not read
    EMPTY = "empty"


class Fault(Struct, frozen=True):
    """One problem; `line` and `column` count from 1 and are None when the parser does not know them."""

    kind: FaultKind
    message: str
    line: int | None = None
    column: int | None = None


Finding: TypeAlias = Dependency | Fault
"""A reader's result for one part of a file."""


class Lockfile(Struct, frozen=True):
    """A file that could be read. With faults, its dependencies are incomplete."""

    format: str
    dependencies: tuple[Dependency, ...]
    faults: tuple[Fault, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether the dependencies are all that the file locks, as far as the file shows."""
        return not self.faults


class Unreadable(Struct, frozen=True):
    """A file without usable content, and why."""

    format: str
    fault: Fault


class InvalidLockfile(Exception):
    """A reader raises it for a file without usable content."""

    def __init__(self, kind: FaultKind, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.fault = Fault(kind, message, line, column)


def build_lockfile(form: str, findings: Iterable[Finding]) -> Lockfile:
    """Merge findings into a lockfile that does not depend on their order; InvalidLockfile passes through."""
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
    """Text from the file, fit for a message: short, without credentials and lone surrogates."""
    cut = _SURROGATE.sub("\ufffd", strip_credentials(text))
    return cut if len(cut) <= MAX_TEXT else f"{cut[: MAX_TEXT - 1]}…"


def strip_credentials(location: str) -> str:
    """A URL without user, password and query, which may contain a token."""
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
    """The same package found twice is direct if one occurrence is, and needed at run time if one occurrence is."""
    if one == other:
        return one
    relations = {one.relation, other.relation}
    relation = next(kind for kind in (Relation.DIRECT, Relation.UNSTATED, Relation.TRANSITIVE) if kind in relations)
    via = () if relation is Relation.DIRECT else tuple(sorted({*one.via, *other.via}))[:MAX_VIA]
    scopes = one.scopes & other.scopes
    return replace(one, relation=relation, scopes=scopes, via=via, ranges=merge_ranges(one.ranges, other.ranges))


def merge_ranges(one: tuple[tuple[str, str], ...], other: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """The ranges of both; none when those of one are unknown."""
    return bound_ranges([*one, *other]) if one and other else ()


def bound_ranges(ranges: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Each range once, with the first package that declares it; none if there are too many or one is not plain."""
    first: dict[str, str] = {}
    for package, declared in sorted(ranges):
        first.setdefault(declared, package)
    if len(first) > MAX_RANGES or not all(_is_plain(package, declared) for declared, package in first.items()):
        return ()
    return tuple(sorted((package, declared) for declared, package in first.items()))


def _is_plain(package: str, declared: str) -> bool:
    is_short = len(package) <= MAX_TEXT and len(declared) <= MAX_TEXT
    return is_short and not _BAD_NAME.search(package) and _RANGE.fullmatch(declared) is not None


def _shortened(faults: list[Fault]) -> Iterator[Fault]:
    ordered = sorted(set(faults), key=lambda fault: (fault.line or 0, fault.column or 0, fault.kind, fault.message))
    yield from ordered[:MAX_FAULTS]
    if len(ordered) > MAX_FAULTS:
        yield Fault(FaultKind.ENTRY, f"and {len(ordered) - MAX_FAULTS} more")
