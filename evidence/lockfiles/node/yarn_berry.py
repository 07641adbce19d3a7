"""yarn.lock of Yarn 2 and newer."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from evidence.lockfiles.lockfile import Dependency, Ecosystem, Fault, FaultKind, Finding, Relation, Source, bound_ranges
from evidence.lockfiles.node.npm_sources import locate_package, read_range, split_alias
from evidence.lockfiles.parsing.bounded import (
    Table,
    build_entry_fault,
    decode_generated_text,
    find_missing_packages,
    find_unfinished_end,
    read_strings,
    string_or_empty,
)
from evidence.lockfiles.parsing.yaml_outline import find_dangling_entry, read_documents
from evidence.lockfiles.versions import parse_concrete_version

_PROTOCOL = re.compile(r"[a-z+]+:")
_ROOT = "@workspace:."


def read_yarn_berry_lock(data: bytes) -> Iterator[Finding]:
    """All packages except the project itself. The file does not separate development from run time."""
    text = decode_generated_text(data)
    yield from find_unfinished_end(text)
    yield from find_dangling_entry(text)
    entries = {
        key: entry for document in read_documents(text) for key, entry in document.items() if key != "__metadata"
    }
    if not text.strip():
        yield Fault(FaultKind.EMPTY, "the file is empty", 1)
    if text.strip() and "__metadata:" in text and not any(_is_root(entry) for entry in entries.values()):
        yield Fault(FaultKind.TRUNCATED, "no entry is the project itself")
    patterns = {pattern for key in entries for pattern in _patterns(key)}
    direct = {need for entry in entries.values() if _is_workspace(entry) for need in _needs(entry)}
    others = {split_alias(key)[0]: entry for key, entry in entries.items() if not _is_root(entry)}
    packages = {need: name for name, entry in others.items() for need in _needs(entry)}
    resolved = {split_alias(need)[0] for need in direct - patterns}  # `resolutions` replaced the range
    needed = {split_alias(need)[0] for entry in entries.values() for need in _needs(entry)}
    yield from find_missing_packages(needed - {split_alias(pattern)[0] for pattern in patterns})
    for key, entry in entries.items():
        resolution = string_or_empty(entry.get("resolution")) if isinstance(entry, Mapping) else ""
        if not isinstance(entry, Mapping) or not resolution:
            yield build_entry_fault(key, "no resolution")
        elif not _is_root(entry):
            named = not direct.isdisjoint(_patterns(key)) or not resolved.isdisjoint(_names(key))
            yield _package(key, entry, resolution, packages, named=named, knows_roots=bool(direct))


def _package(
    key: str, entry: Table, resolution: str, packages: Mapping[str, str], *, named: bool, knows_roots: bool
) -> Dependency:
    name, place = split_alias(resolution)
    source, location = _source(place)
    relation = Relation.TRANSITIVE if knows_roots else Relation.UNSTATED
    return Dependency(
        ecosystem=Ecosystem.NPM,
        name=name,
        alias=split_alias(key)[0],
        version=parse_concrete_version(Ecosystem.NPM, string_or_empty(entry.get("version"))),
        relation=Relation.DIRECT if source is Source.WORKSPACE or named else relation,
        source=source,
        location=location,
        ranges=bound_ranges(
            (packages.get(pattern, ""), read_range(split_alias(pattern)[1])) for pattern in _patterns(key)
        ),
    )


def _source(place: str) -> tuple[Source, str | None]:
    """`npm:1.2.3`, `workspace:packages/a`, `patch:name@npm%3A1.2.3#...`: a patched package belongs to its registry."""
    if place.startswith(("npm:", "patch:", "virtual:")):
        return Source.REGISTRY, None
    where = place.partition("::")[0]
    return locate_package(where.partition("#")[0] if where.startswith("file:") else where)


def _is_root(entry: Any) -> bool:
    return isinstance(entry, Mapping) and string_or_empty(entry.get("resolution")).endswith(_ROOT)


def _is_workspace(entry: Any) -> bool:
    return isinstance(entry, Mapping) and "@workspace:" in string_or_empty(entry.get("resolution"))


def _needs(entry: Any) -> Iterator[str]:
    if isinstance(entry, Mapping):
        needs = entry.get("dependencies")
        for name in read_strings(entry, "dependencies"):
            spec = string_or_empty(needs[name]) if isinstance(needs, Mapping) else ""
            yield _with_protocol(f"{name}@{spec}")


def _patterns(key: str) -> list[str]:
    """The patterns of a key without Yarn's binding: `a@file:./a::locator=...` is `a@file:./a`."""
    return [_with_protocol(pattern.partition("::")[0]) for pattern in key.split(", ")]


def _names(key: str) -> set[str]:
    return {split_alias(pattern)[0] for pattern in key.split(", ")}


def _with_protocol(pattern: str) -> str:
    """Yarn 2 and 3 omit `npm:` where a package depends on a range, and write it in the key."""
    name, spec = split_alias(pattern)
    return pattern if _PROTOCOL.match(spec) else f"{name}@npm:{spec}"
