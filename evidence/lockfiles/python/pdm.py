"""pdm.lock, and pylock.toml (PEP 751)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from evidence.lockfiles.lockfile import Dependency, Ecosystem, Fault, FaultKind, Finding, Relation, Scope, Source
from evidence.lockfiles.parsing.bounded import (
    Table,
    build_entry_fault,
    decode_text,
    find_missing_packages,
    find_unfinished_end,
    read_rows,
    read_strings,
    read_toml,
    string_or_empty,
)
from evidence.lockfiles.reachability import infer_relation
from evidence.lockfiles.versions import normalize_package_name, parse_concrete_version

_PLACES = {"git": Source.GIT, "url": Source.URL, "path": Source.PATH}
_PYLOCK_PLACES = {"vcs": Source.GIT, "archive": Source.URL, "directory": Source.PATH}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_DEVELOPMENT = re.compile(r"(?:dev|test|lint|doc|typ|ci\b)", re.IGNORECASE)
_OPTION = re.compile(r"""["']([^"']+)["']\s+in\s+(extras|dependency_groups)""")


def read_pdm_lock(data: bytes) -> Iterator[Finding]:
    """All packages. A group other than `default` is for development or an extra, which its name must show."""
    lock = read_toml(data)
    yield from find_unfinished_end(decode_text(data))
    if "metadata" not in lock:
        yield Fault(FaultKind.TRUNCATED, "no [metadata]")
    entries = read_rows(lock, "package")
    if not entries:
        yield Fault(FaultKind.EMPTY, "no package")
    names = {normalize_package_name(Ecosystem.PYPI, string_or_empty(entry.get("name"))) for entry in entries}
    required = {need for entry in entries for need in _needs(entry, read_strings(entry, "dependencies"))}
    yield from find_missing_packages(required - names)
    for entry in entries:
        groups = read_strings(entry, "groups") or ["default"]
        scope = Scope.DEV if all(_DEVELOPMENT.match(group) for group in groups) else Scope.OPTIONAL
        yield _package(entry, _PLACES, required, frozenset(() if "default" in groups else (scope,)))


def read_pylock(data: bytes) -> Iterator[Finding]:
    """All packages of the standard's file, for all extras and groups that it locks."""
    lock = read_toml(data)
    yield from find_unfinished_end(decode_text(data))
    if not lock:
        yield Fault(FaultKind.EMPTY, "the file holds nothing", 1)
    default = {*read_strings(lock, "default-groups")}
    entries = read_rows(lock, "packages")
    stated = any("dependencies" in entry for entry in entries)
    required = {
        need
        for entry in entries
        for need in _needs(entry, [string_or_empty(need.get("name")) for need in read_rows(entry, "dependencies")])
    }
    yield from find_missing_packages(
        required - {normalize_package_name(Ecosystem.PYPI, string_or_empty(entry.get("name"))) for entry in entries}
    )
    for entry in entries:
        marker = string_or_empty(entry.get("marker"))
        options = _OPTION.findall(marker)
        if any(kind == "dependency_groups" and name in default for name, kind in options):
            options = []
        scopes = frozenset(Scope.OPTIONAL if kind == "extras" else Scope.DEV for _, kind in options)
        yield _package(entry, _PYLOCK_PLACES, required if stated else None, scopes)


def _needs(entry: Table, needs: list[str]) -> set[str]:
    """The dependencies of a package: `a[extra]` also needs `a`, without a statement about the project."""
    found = {normalize_package_name(Ecosystem.PYPI, name.group()) for need in needs if (name := _NAME.match(need))}
    return found - {normalize_package_name(Ecosystem.PYPI, string_or_empty(entry.get("name")))}


def _package(
    entry: Table, places: Mapping[str, Source], required: set[str] | None, scopes: frozenset[Scope]
) -> Finding:
    name = string_or_empty(entry.get("name"))
    if not name:
        return build_entry_fault(entry, "no name")
    known = normalize_package_name(Ecosystem.PYPI, name)
    kind, location = Source.REGISTRY, None
    for key, source in places.items():
        if (place := entry.get(key)) is not None:
            kind = source
            details = place if isinstance(place, Mapping) else {"url": place}
            location = string_or_empty(details.get("url")) or string_or_empty(details.get("path")) or None
    if kind is Source.REGISTRY and not string_or_empty(entry.get("version")):
        return build_entry_fault(name, "no version")
    return Dependency(
        ecosystem=Ecosystem.PYPI,
        name=known,
        version=parse_concrete_version(Ecosystem.PYPI, string_or_empty(entry.get("version"))),
        relation=Relation.UNSTATED if required is None else infer_relation(known, required),
        scopes=scopes,
        source=kind,
        location=location,
    )
