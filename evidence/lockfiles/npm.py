"""package-lock.json and npm-shrinkwrap.json, lockfileVersion 1 to 3."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evidence.lockfiles.lockfile import Dependency, Ecosystem, FaultKind, Finding, Invalid, Relation, Scope, Source
from evidence.lockfiles.npm_places import aliased, placed
from evidence.lockfiles.reading import Table, entry_fault, read_json, string, table, words
from evidence.lockfiles.versions import concrete

_INSTALLED = "node_modules/"
_LISTS = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")


def read(data: bytes) -> Iterator[Finding]:
    """Every package but the project itself. Lock 2 holds its content twice; `packages` is the newer form."""
    lock = read_json(data)
    if not {"packages", "dependencies", "lockfileVersion"} & lock.keys():
        raise Invalid(FaultKind.SHAPE, "neither lockfileVersion nor packages nor dependencies: not a package-lock", 1)
    if lock.get("packages") is not None:
        yield from _flat(table(lock, "packages"))
    else:
        yield from _nested(table(lock, "dependencies"))


def _flat(packages: Table) -> Iterator[Finding]:
    """Locks 2 and 3: one entry for every folder."""
    direct = _direct(packages)
    for key, entry in packages.items():
        if not isinstance(entry, Mapping):
            yield entry_fault(key, "expected an object")
        elif key and not entry.get("link"):
            yield _folder(key, entry, packages, direct)


def _direct(packages: Table) -> set[str]:
    """The folders of what the project and its workspaces name."""
    found: set[str] = set()
    for key, entry in packages.items():
        if _INSTALLED in key or not isinstance(entry, Mapping):
            continue
        for name in (name for part in _LISTS for name in words(entry, part)):
            own = f"{key}/{_INSTALLED}{name}"
            found.add(own if key and own in packages else _INSTALLED + name)
    return found


def _folder(key: str, entry: Table, packages: Table, direct: set[str]) -> Dependency:
    below = key.rpartition(_INSTALLED)
    folder = below[2] if below[1] else key.rstrip("/").rpartition("/")[2]
    name = string(entry.get("name")) or folder
    version = string(entry.get("version"))
    if below[1]:
        source, location = placed(string(entry.get("resolved")), version)
    else:
        root = packages.get("")
        inside = isinstance(root, Mapping) and bool(root.get("workspaces"))
        source, location = Source.WORKSPACE if inside and not key.startswith("..") else Source.PATH, key
    return Dependency(
        ecosystem=Ecosystem.NPM,
        name=name,
        alias=folder,
        version=concrete(Ecosystem.NPM, version),
        relation=Relation.DIRECT if key in direct or not below[1] else Relation.TRANSITIVE,
        scopes=_scopes(entry),
        source=source,
        location=location,
    )


def _scopes(entry: Table) -> frozenset[Scope]:
    flags = {
        Scope.DEV: ("dev", "devOptional"),
        Scope.OPTIONAL: ("optional", "devOptional"),
        Scope.PEER: ("peer",),
    }
    return frozenset(scope for scope, names in flags.items() if any(entry.get(name) is True for name in names))


def _nested(dependencies: Table) -> Iterator[Finding]:
    """Lock 1: a tree. Whatever no package requires must be named by the project."""
    flat = list(_walk(dependencies, top=True))
    required = {name for _, entry, _ in flat if isinstance(entry, Mapping) for name in words(entry, "requires")}
    for key, entry, top in flat:
        if not isinstance(entry, Mapping):
            yield entry_fault(key, "expected an object")
            continue
        raw = string(entry.get("version"))
        name, version = aliased(raw.removeprefix("npm:")) if raw.startswith("npm:") else (key, raw)
        source, location = placed(string(entry.get("resolved")), version)
        relation = Relation.UNSTATED if key in required else Relation.DIRECT
        yield Dependency(
            ecosystem=Ecosystem.NPM,
            name=name,
            alias=key,
            version=concrete(Ecosystem.NPM, version),
            relation=relation if top else Relation.TRANSITIVE,
            scopes=_scopes(entry),
            source=source,
            location=location,
        )


def _walk(dependencies: Table, *, top: bool) -> Iterator[tuple[str, Any, bool]]:
    waiting = [(dependencies, top)]
    while waiting:
        level, first = waiting.pop()
        for key, entry in level.items():
            yield key, entry, first
            if isinstance(entry, Mapping) and entry.get("dependencies") is not None:
                waiting.append((table(entry, "dependencies"), False))
