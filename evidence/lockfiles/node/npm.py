"""package-lock.json and npm-shrinkwrap.json, lockfileVersion 1 to 3."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from evidence.lockfiles.lockfile import (
    Dependency,
    Ecosystem,
    FaultKind,
    Finding,
    InvalidLockfile,
    Relation,
    Scope,
    Source,
    bound_ranges,
)
from evidence.lockfiles.node.npm_sources import locate_package, read_range, split_alias
from evidence.lockfiles.parsing.bounded import (
    MAX_DEPTH,
    Table,
    build_entry_fault,
    read_json,
    read_strings,
    read_table,
    string_or_empty,
)
from evidence.lockfiles.reachability import find_origins
from evidence.lockfiles.versions import parse_concrete_version

_INSTALLED = "node_modules/"
_NESTED = 16
_LONGEST = 2_000
"""Nesting and length of a place from which needs are followed. A deeper or longer one would cost its size for each
need."""
_MAX_NEEDS = 50_000
_PATH = re.compile(r"(?:file|link):|[.~]|/")
_LISTS = ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies")


def read_npm_lock(data: bytes) -> Iterator[Finding]:
    """All packages except the project itself. Lock 2 contains its content twice; `packages` is the newer form."""
    lock = read_json(data)
    if not {"packages", "dependencies", "lockfileVersion"} & lock.keys():
        raise InvalidLockfile(
            FaultKind.SHAPE, "neither lockfileVersion nor packages nor dependencies: not a package-lock", 1
        )
    if lock.get("packages") is not None:
        yield from _flat(read_table(lock, "packages"))
    else:
        yield from _nested(read_table(lock, "dependencies"))


class _Folders(Struct, frozen=True):
    """The folders outside node_modules: workspaces, other local packages, and their dependencies."""

    links: dict[str, str]
    """The place in node_modules from which a folder is linked."""
    workspaces: frozenset[str]
    direct: frozenset[str]
    """The places of the direct dependencies of the project and its workspaces."""


def _flat(packages: Table) -> Iterator[Finding]:
    """Locks 2 and 3: one entry for each folder."""
    folders = _folders(packages)
    origins = find_origins(folders.direct, lambda key: (place for place, _ in _needs(key, packages)))
    ranges = find_ranges(packages)
    for key, entry in packages.items():
        if not isinstance(entry, Mapping):
            yield build_entry_fault(key, "expected an object")
        elif key and not entry.get("link"):
            if _INSTALLED in key:
                yield _installed(key, entry, _via(key, folders, origins), ranges.get(key, ()), folders)
            else:
                yield _linked(key, entry, folders)


def _folders(packages: Table) -> _Folders:
    """Workspaces are linked without a dependency by path; `file:` folders have one, and are not part of the project."""
    outside = {key: entry for key, entry in packages.items() if _INSTALLED not in key and isinstance(entry, Mapping)}
    by_path = {name for entry in outside.values() for name, spec in _specs(entry) if _PATH.match(spec)}
    root = outside.get("")
    has_workspaces = root is not None and bool(root.get("workspaces"))
    links: dict[str, tuple[int, str]] = {}
    workspaces: set[str] = set()
    for key, entry in packages.items():
        if not isinstance(entry, Mapping) or not entry.get("link"):
            continue
        target = string_or_empty(entry.get("resolved"))
        links[target] = min(links.get(target, (MAX_DEPTH, key)), (key.count(_INSTALLED), key))
        if has_workspaces and not target.startswith("..") and key.rpartition(_INSTALLED)[2] not in by_path:
            workspaces.add(target)
    direct: set[str] = set()
    for key in ("", *workspaces):
        for name, _ in _specs(outside.get(key, {})):
            own = f"{key}/{_INSTALLED}{name}"
            direct.add(own if key and own in packages else _INSTALLED + name)
    return _Folders({target: key for target, (_, key) in links.items()}, frozenset(workspaces), frozenset(direct))


def _specs(entry: Table) -> Iterator[tuple[str, str]]:
    for part in _LISTS:
        needs = entry.get(part)
        for name, spec in needs.items() if isinstance(needs, Mapping) else ():
            yield name, string_or_empty(spec)


def _needs(key: str, packages: Table) -> Iterator[tuple[str, str]]:
    """The places of what a package needs, in its own folder first, then in the folders around it; and the ranges."""
    entry = packages.get(key)
    if not isinstance(entry, Mapping) or _is_deep(key):
        return
    if entry.get("link"):
        yield string_or_empty(entry.get("resolved")), ""
    for name, declared in _specs(entry):
        place, around = (f"{key}/" if key else "") + _INSTALLED + name, key
        while around and place not in packages:
            around = around.rpartition(f"/{_INSTALLED}")[0]
            place = f"{around}/{_INSTALLED}{name}" if around else _INSTALLED + name
        if place in packages:
            yield place, declared


def _is_deep(key: str) -> bool:
    return len(key) > _LONGEST or key.count(_INSTALLED) > _NESTED


def find_ranges(packages: Table) -> Mapping[str, tuple[tuple[str, str], ...]]:
    """The ranges that each place must suit, by the manifests of the places; none when there are too many needs."""
    count = sum(1 for entry in packages.values() if isinstance(entry, Mapping) for _ in _specs(entry))
    if count > _MAX_NEEDS or any(map(_is_deep, packages)):
        return {}
    found: dict[str, list[tuple[str, str]]] = {}
    for key in packages:
        package = key.rpartition(_INSTALLED)[2]
        for place, declared in _needs(key, packages):
            found.setdefault(place, []).append((package, read_range(declared)))
    return {place: bound_ranges(ranges) for place, ranges in found.items()}


def _installed(
    key: str, entry: Table, via: tuple[str, ...], ranges: tuple[tuple[str, str], ...], folders: _Folders
) -> Dependency:
    """A package in node_modules."""
    folder = key.rpartition(_INSTALLED)[2]
    version = string_or_empty(entry.get("version"))
    source, location = locate_package(string_or_empty(entry.get("resolved")), version)
    return Dependency(
        ecosystem=Ecosystem.NPM,
        name=string_or_empty(entry.get("name")) or folder,
        alias=folder,
        version=parse_concrete_version(Ecosystem.NPM, version),
        relation=Relation.DIRECT if key in folders.direct else Relation.TRANSITIVE,
        scopes=_scopes(entry),
        source=source,
        location=location,
        via=via,
        ranges=ranges,
    )


def _via(key: str, folders: _Folders, origins: Mapping[str, list[str]]) -> tuple[str, ...]:
    if key in folders.direct:
        return ()
    return tuple(sorted({root.rpartition(_INSTALLED)[2] for root in origins.get(key, ())}))


def _linked(key: str, entry: Table, folders: _Folders) -> Dependency:
    """A package in a folder of its own. npm omits its name when it equals the name of the folder."""
    link = folders.links.get(key, "")
    parts = key.rstrip("/").split("/")
    folder = "/".join(parts[-2:]) if len(parts) > 1 and parts[-2].startswith("@") else parts[-1]
    is_workspace = key in folders.workspaces
    return Dependency(
        ecosystem=Ecosystem.NPM,
        name=string_or_empty(entry.get("name")) or folder,
        alias=link.rpartition(_INSTALLED)[2] or None,
        version=parse_concrete_version(Ecosystem.NPM, string_or_empty(entry.get("version"))),
        relation=Relation.DIRECT if is_workspace or link in folders.direct else Relation.TRANSITIVE,
        scopes=_scopes(entry),
        source=Source.WORKSPACE if is_workspace else Source.PATH,
        location=key,
    )


def _scopes(entry: Table) -> frozenset[Scope]:
    flags = {Scope.DEV: ("dev", "devOptional"), Scope.OPTIONAL: ("optional", "devOptional"), Scope.PEER: ("peer",)}
    return frozenset(scope for scope, names in flags.items() if any(entry.get(name) is True for name in names))


def _nested(dependencies: Table) -> Iterator[Finding]:
    """Lock 1: a tree. A package that no other requires must be a direct dependency."""
    flat = list(_walk(dependencies, top=True))
    required = {name for _, entry, _ in flat if isinstance(entry, Mapping) for name in read_strings(entry, "requires")}
    for key, entry, top in flat:
        if not isinstance(entry, Mapping):
            yield build_entry_fault(key, "expected an object")
            continue
        raw = string_or_empty(entry.get("version"))
        name, version = split_alias(raw.removeprefix("npm:")) if raw.startswith("npm:") else (key, raw)
        source, location = locate_package(string_or_empty(entry.get("resolved")), version)
        relation = Relation.UNSTATED if key in required else Relation.DIRECT
        yield Dependency(
            ecosystem=Ecosystem.NPM,
            name=name,
            alias=key,
            version=parse_concrete_version(Ecosystem.NPM, version),
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
                waiting.append((read_table(entry, "dependencies"), False))
