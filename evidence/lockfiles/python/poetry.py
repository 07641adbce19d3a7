"""poetry.lock, lock-version 1 and 2."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.lockfiles.lockfile import Dependency, Ecosystem, Fault, FaultKind, Finding, Scope, Source
from evidence.lockfiles.parsing.bounded import (
    Table,
    build_entry_fault,
    read_rows,
    read_strings,
    read_table,
    read_toml,
    string_or_empty,
)
from evidence.lockfiles.reachability import infer_relation
from evidence.lockfiles.versions import normalize_package_name, parse_concrete_version

_SOURCES = {"git": Source.GIT, "url": Source.URL, "file": Source.PATH, "directory": Source.PATH}


def read_poetry_lock(data: bytes) -> Iterator[Finding]:
    """All packages. One on which no other package depends must be a direct dependency, named in pyproject.toml."""
    lock = read_toml(data)
    if "metadata" not in lock:
        yield Fault(FaultKind.TRUNCATED, "no [metadata], which Poetry writes at the end")
    entries = read_rows(lock, "package")
    required = {need for entry in entries for need in _needs(entry)}
    for entry in entries:
        name = string_or_empty(entry.get("name"))
        yield _package(entry, name, required) if name else build_entry_fault(entry, "no name")


def _needs(entry: Table) -> set[str]:
    """The dependencies of a package: `a[extra]` may also need `a`."""
    needs = {normalize_package_name(Ecosystem.PYPI, name) for name in read_strings(entry, "dependencies")}
    return needs - {normalize_package_name(Ecosystem.PYPI, string_or_empty(entry.get("name")))}


def _package(entry: Table, name: str, required: set[str]) -> Dependency:
    source = read_table(entry, "source")
    kind = _SOURCES.get(string_or_empty(source.get("type")), Source.REGISTRY)
    known = normalize_package_name(Ecosystem.PYPI, name)
    groups = read_strings(entry, "groups") or [string_or_empty(entry.get("category")) or "main"]
    scopes = {Scope.DEV: "main" not in groups, Scope.OPTIONAL: entry.get("optional") is True}
    return Dependency(
        ecosystem=Ecosystem.PYPI,
        name=known,
        version=parse_concrete_version(Ecosystem.PYPI, string_or_empty(entry.get("version"))),
        relation=infer_relation(known, required),
        scopes=frozenset(scope for scope, is_set in scopes.items() if is_set),
        source=kind,
        location=None if kind is Source.REGISTRY else string_or_empty(source.get("url")),
    )
