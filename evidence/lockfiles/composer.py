"""composer.lock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evidence.lockfiles.lockfile import Dependency, Ecosystem, FaultKind, Finding, InvalidLockfile, Scope, Source
from evidence.lockfiles.parsing.bounded import (
    Table,
    build_entry_fault,
    read_json,
    read_strings,
    read_tables,
    string_or_empty,
)
from evidence.lockfiles.reachability import infer_relation
from evidence.lockfiles.versions import normalize_package_name, parse_concrete_version

_LISTS = {"packages": frozenset[Scope](), "packages-dev": frozenset({Scope.DEV})}


def read_composer_lock(data: bytes) -> Iterator[Finding]:
    """All packages. The project's direct dependencies are in composer.json; a package that no other requires must be
    one.
    """
    lock = read_json(data)
    if "packages" not in lock:
        raise InvalidLockfile(FaultKind.SHAPE, "no packages: not a composer.lock", 1)
    every = [entry for part in _LISTS for entry in read_tables(lock, part)]
    required = {
        normalize_package_name(Ecosystem.PACKAGIST, name) for entry in every for name in read_strings(entry, "require")
    }
    for part, scopes in _LISTS.items():
        for entry in read_tables(lock, part):
            if not isinstance(entry, Mapping) or not string_or_empty(entry.get("name")):
                yield build_entry_fault(entry, "no name")
            else:
                yield _package(entry, required, scopes)


def _package(entry: Table, required: set[str], scopes: frozenset[Scope]) -> Dependency:
    name = normalize_package_name(Ecosystem.PACKAGIST, string_or_empty(entry.get("name")))
    source, location = _source(entry)
    return Dependency(
        ecosystem=Ecosystem.PACKAGIST,
        name=name,
        version=parse_concrete_version(Ecosystem.PACKAGIST, string_or_empty(entry.get("version"))),
        relation=infer_relation(name, required),
        scopes=scopes,
        source=source,
        location=location,
    )


def _source(entry: Table) -> tuple[Source, str | None]:
    """A package from a repository server has a notification URL; one from a VCS repository has only its source."""
    dist, source = _part(entry, "dist"), _part(entry, "source")
    if string_or_empty(dist.get("type")) == "path":
        return Source.PATH, string_or_empty(dist.get("url"))
    if not entry.get("notification-url") and string_or_empty(source.get("type")) in {"git", "hg", "svn"}:
        return Source.GIT, string_or_empty(source.get("url"))
    return Source.REGISTRY, None


def _part(entry: Table, key: str) -> Mapping[str, Any]:
    value = entry.get(key)
    return value if isinstance(value, Mapping) else {}
