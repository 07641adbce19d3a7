"""Pipfile.lock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from evidence.lockfiles.lockfile import Dependency, Ecosystem, Fault, FaultKind, Finding, Scope, Source
from evidence.lockfiles.parsing.bounded import Table, build_entry_fault, read_json, read_table, string_or_empty
from evidence.lockfiles.versions import normalize_package_name, parse_concrete_version

_PLACES = {"git": Source.GIT, "path": Source.PATH, "file": Source.URL, "url": Source.URL}


def read_pipfile_lock(data: bytes) -> Iterator[Finding]:
    """All packages of all categories; the file does not show which of them the project names."""
    if not data.strip():
        yield Fault(FaultKind.EMPTY, "the file is empty", 1)
        return
    lock = read_json(data)
    for category in lock:
        if category == "_meta":
            continue
        for name, entry in read_table(lock, category).items():
            yield (
                _package(name, entry, category)
                if isinstance(entry, Mapping)
                else build_entry_fault(name, "not an object")
            )


def _package(name: str, entry: Table, category: str) -> Dependency:
    raw = string_or_empty(entry.get("version"))
    place = next((key for key in _PLACES if key in entry), None)
    location = string_or_empty(entry.get(place)) if place else ""
    pinned = raw.removeprefix("===").removeprefix("==") if raw.startswith("==") else ""
    text = pinned or raw or f"{location}#{string_or_empty(entry.get('ref'))}"
    return Dependency(
        ecosystem=Ecosystem.PYPI,
        name=normalize_package_name(Ecosystem.PYPI, name),
        version=parse_concrete_version(Ecosystem.PYPI, text),
        scopes=frozenset() if category == "default" else frozenset({Scope.DEV}),
        source=_PLACES[place] if place else Source.REGISTRY,
        location=location or None,
    )
