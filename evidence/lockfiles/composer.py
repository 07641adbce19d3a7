"""composer.lock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evidence.lockfiles.lockfile import Dependency, Ecosystem, FaultKind, Finding, Invalid, Scope, Source
from evidence.lockfiles.reach import inferred
from evidence.lockfiles.reading import Table, entry_fault, read_json, string, tables, words
from evidence.lockfiles.versions import concrete, normalised

_LISTS = {"packages": frozenset[Scope](), "packages-dev": frozenset({Scope.DEV})}


def read(data: bytes) -> Iterator[Finding]:
    """Every package. What the project names is in composer.json; whatever no package requires must be named there."""
    lock = read_json(data)
    if "packages" not in lock:
        raise Invalid(FaultKind.SHAPE, "no packages: not a composer.lock", 1)
    every = [entry for part in _LISTS for entry in tables(lock, part)]
    required = {normalised(Ecosystem.PACKAGIST, name) for entry in every for name in words(entry, "require")}
    for part, scopes in _LISTS.items():
        for entry in tables(lock, part):
            if not isinstance(entry, Mapping) or not string(entry.get("name")):
                yield entry_fault(entry, "no name")
            else:
                yield _package(entry, required, scopes)


def _package(entry: Table, required: set[str], scopes: frozenset[Scope]) -> Dependency:
    name = normalised(Ecosystem.PACKAGIST, string(entry.get("name")))
    source, location = _source(entry)
    return Dependency(
        ecosystem=Ecosystem.PACKAGIST,
        name=name,
        version=concrete(Ecosystem.PACKAGIST, string(entry.get("version"))),
        relation=inferred(name, required),
        scopes=scopes,
        source=source,
        location=location,
    )


def _source(entry: Table) -> tuple[Source, str | None]:
    """A package of a repository server has a URL to notify; one of a VCS repository has only its source."""
    dist, source = _part(entry, "dist"), _part(entry, "source")
    if string(dist.get("type")) == "path":
        return Source.PATH, string(dist.get("url"))
    if not entry.get("notification-url") and string(source.get("type")) in {"git", "hg", "svn"}:
        return Source.GIT, string(source.get("url"))
    return Source.REGISTRY, None


def _part(entry: Table, key: str) -> Mapping[str, Any]:
    value = entry.get(key)
    return value if isinstance(value, Mapping) else {}
