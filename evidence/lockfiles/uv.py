"""uv.lock, the lock of Python that also holds the project itself and what it names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evidence.lockfiles.lockfile import Dependency, Ecosystem, Fault, FaultKind, Finding, Source
from evidence.lockfiles.reach import Edges, Reach, Roots
from evidence.lockfiles.reading import Table, entry_fault, missing, read_toml, rows, string, text_of, unfinished
from evidence.lockfiles.versions import concrete, normalised

_OWN = ("editable", "virtual")


def read(data: bytes) -> Iterator[Finding]:
    """Every package but the project itself; other members of a workspace count as packages."""
    lock = read_toml(data)
    yield from unfinished(text_of(data))
    if not lock:
        yield Fault(FaultKind.EMPTY, "the file holds nothing", 1)
    entries = rows(lock, "package")
    by_name: dict[str, list[str]] = {}
    for entry in entries:
        by_name.setdefault(string(entry.get("name")), []).append(_key(entry))
    roots, wanted = Roots(), set[str]()
    for entry in entries:
        if _is_own(entry):
            roots.needs.update(_targets(entry.get("dependencies"), by_name, wanted))
            roots.options.update(_extras(entry, "optional-dependencies", by_name, wanted))
            roots.dev.update(_extras(entry, "dev-dependencies", by_name, wanted))
    edges = {_key(entry): _edges(entry, by_name, wanted) for entry in entries}
    yield from missing(wanted)
    if lock and not any(_is_own(entry) for entry in entries):
        yield Fault(FaultKind.TRUNCATED, "no entry is the project itself")
    reach = Reach(roots, edges)
    for entry in entries:
        source = entry.get("source")
        if not (isinstance(source, Mapping) and any(source.get(kind) == "." for kind in _OWN)):
            yield _package(entry, reach)


def _package(entry: Table, reach: Reach) -> Finding:
    name = string(entry.get("name"))
    if not name:
        return entry_fault(entry, "no name")
    source, location = _source(entry.get("source"))
    return Dependency(
        ecosystem=Ecosystem.PYPI,
        name=normalised(Ecosystem.PYPI, name),
        version=concrete(Ecosystem.PYPI, string(entry.get("version"))),
        relation=reach.relation(_key(entry)),
        scopes=reach.scopes(_key(entry)),
        source=source,
        location=location,
    )


def _source(source: Any) -> tuple[Source, str | None]:
    kinds = {
        "git": Source.GIT,
        "url": Source.URL,
        "path": Source.PATH,
        "directory": Source.PATH,
        "editable": Source.WORKSPACE,
        "virtual": Source.WORKSPACE,
    }
    if isinstance(source, Mapping):
        for key, kind in kinds.items():
            if (location := string(source.get(key))) != "":
                return kind, location
    return Source.REGISTRY, None


def _is_own(entry: Table) -> bool:
    source = entry.get("source")
    return isinstance(source, Mapping) and any(kind in source for kind in _OWN)


def _key(entry: Table) -> str:
    return f"{string(entry.get('name'))} {string(entry.get('version'))}"


def _edges(entry: Table, by_name: Mapping[str, list[str]], wanted: set[str]) -> Edges:
    return Edges(
        tuple(_targets(entry.get("dependencies"), by_name, wanted)),
        tuple(_extras(entry, "optional-dependencies", by_name, wanted)),
    )


def _extras(entry: Table, part: str, by_name: Mapping[str, list[str]], wanted: set[str]) -> Iterator[str]:
    groups = entry.get(part)
    for group in groups.values() if isinstance(groups, Mapping) else ():
        yield from _targets(group, by_name, wanted)


def _targets(needs: Any, by_name: Mapping[str, list[str]], wanted: set[str]) -> Iterator[str]:
    """The packages of a list of `{name, version}`; the version stands there only when there are several."""
    for need in needs if isinstance(needs, list) else ():
        if not isinstance(need, Mapping):
            continue
        name, version = string(need.get("name")), string(need.get("version"))
        keys = by_name.get(name, [])
        chosen = [f"{name} {version}"] if version and f"{name} {version}" in keys else keys
        if not chosen:
            wanted.add(name)
        yield from chosen
