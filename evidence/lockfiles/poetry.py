"""poetry.lock, lock-version 1 and 2."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.lockfiles.lockfile import Dependency, Ecosystem, Fault, FaultKind, Finding, Scope, Source
from evidence.lockfiles.reach import inferred
from evidence.lockfiles.reading import Table, entry_fault, read_toml, rows, string, table, words
from evidence.lockfiles.versions import concrete, normalised

_SOURCES = {"git": Source.GIT, "url": Source.URL, "file": Source.PATH, "directory": Source.PATH}


def read(data: bytes) -> Iterator[Finding]:
    """Every package. Whatever no other package depends on must be named by the project, in pyproject.toml."""
    lock = read_toml(data)
    if "metadata" not in lock:
        yield Fault(FaultKind.TRUNCATED, "no [metadata], which Poetry writes at the end")
    entries = rows(lock, "package")
    required = {need for entry in entries for need in _needs(entry)}
    for entry in entries:
        name = string(entry.get("name"))
        yield _package(entry, name, required) if name else entry_fault(entry, "no name")


def _needs(entry: Table) -> set[str]:
    """What a package needs beside itself: by `a[extra]` it may also need `a`."""
    needs = {normalised(Ecosystem.PYPI, name) for name in words(entry, "dependencies")}
    return needs - {normalised(Ecosystem.PYPI, string(entry.get("name")))}


def _package(entry: Table, name: str, required: set[str]) -> Dependency:
    source = table(entry, "source")
    kind = _SOURCES.get(string(source.get("type")), Source.REGISTRY)
    known = normalised(Ecosystem.PYPI, name)
    groups = words(entry, "groups") or [string(entry.get("category")) or "main"]
    scopes = {Scope.DEV: "main" not in groups, Scope.OPTIONAL: entry.get("optional") is True}
    return Dependency(
        ecosystem=Ecosystem.PYPI,
        name=known,
        version=concrete(Ecosystem.PYPI, string(entry.get("version"))),
        relation=inferred(known, required),
        scopes=frozenset(scope for scope, is_set in scopes.items() if is_set),
        source=kind,
        location=None if kind is Source.REGISTRY else string(source.get("url")),
    )
