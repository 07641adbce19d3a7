"""pom.xml, as far as one file determines it: versions may also come from a parent, an imported BOM or a profile."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from evidence.lockfiles.lockfile import (
    Dependency,
    Ecosystem,
    Fault,
    FaultKind,
    Finding,
    InvalidLockfile,
    Relation,
    Scope,
    Source,
    UnknownVersion,
)
from evidence.lockfiles.parsing.bounded import check_size
from evidence.lockfiles.parsing.xml_outline import Element, read_xml
from evidence.lockfiles.versions import parse_concrete_version

_PROPERTY = re.compile(r"\$\{([^${}]*)\}")
_EXACT_RANGE = re.compile(r"\[([^\[\](),]+)\]$")
_MAX_EXPANSIONS = 16
_MAX_EXPANDED = 1024


def read_pom(data: bytes) -> Iterator[Finding]:
    """All dependencies of the project itself, which are the direct ones; Maven resolves the others during a build."""
    check_size(data)
    project = read_xml(data)
    if project.name != "project":
        raise InvalidLockfile(FaultKind.SHAPE, f"expected <project>, found <{project.name[:40]}>", project.line)
    if project.child("profiles") is not None and project.under("profiles"):
        yield Fault(FaultKind.ELSEWHERE, "profiles may add dependencies; they are not read", project.line)
    if project.child("parent") is not None:
        yield Fault(FaultKind.ELSEWHERE, "the parent may add dependencies and versions; it is not read", project.line)
    properties = _resolved(_properties(project))
    managed = {
        _name(entry, properties): entry
        for entry in project.under("dependencyManagement", "dependencies")
        if entry.name == "dependency" and entry.value("scope") != "import"
    }
    for entry in project.under("dependencies"):
        if entry.name == "dependency":
            yield _dependency(entry, properties, managed)


def _dependency(entry: Element, properties: Mapping[str, str], managed: Mapping[str, Element]) -> Finding:
    name = _name(entry, properties)
    if "${" in name or name.startswith(":") or name.endswith(":"):
        return Fault(FaultKind.ENTRY, f"the name of a dependency is not in this file: {name[:200]}", entry.line)
    fallback = managed.get(name)
    stated = entry.value("version") or (fallback.value("version") if fallback else "")
    scope = entry.value("scope") or (fallback.value("scope") if fallback else "")
    raw = _expanded(stated, properties)
    exact = _EXACT_RANGE.match(raw)
    scopes = {Scope.DEV: scope == "test", Scope.OPTIONAL: _expanded(entry.value("optional"), properties) == "true"}
    return Dependency(
        ecosystem=Ecosystem.MAVEN,
        name=name,
        version=parse_concrete_version(Ecosystem.MAVEN, exact.group(1) if exact else raw)
        if raw
        else UnknownVersion(""),
        relation=Relation.DIRECT,
        scopes=frozenset(kind for kind, is_set in scopes.items() if is_set),
        source=Source.PATH if scope == "system" else Source.REGISTRY,
        location=entry.value("systemPath") if scope == "system" else None,
    )


def _properties(project: Element) -> dict[str, str]:
    found = {entry.name: entry.text.strip() for entry in project.under("properties")}
    for key in ("groupId", "artifactId", "version"):
        own, inherited = (
            project.value(key),
            next((part.text.strip() for part in project.under("parent") if part.name == key), ""),
        )
        for prefix in ("project.", "pom.", ""):
            found.setdefault(f"{prefix}{key}", own or inherited)
        for prefix in ("project.parent.", "pom.parent.", "parent."):
            found.setdefault(f"{prefix}{key}", inherited)
    return found


def _name(entry: Element, properties: Mapping[str, str]) -> str:
    return f"{_expanded(entry.value('groupId'), properties)}:{_expanded(entry.value('artifactId'), properties)}"


def _expanded(text: str, properties: Mapping[str, str]) -> str:
    """The text with known properties replaced; its growth is bounded."""
    if "${" not in text or len(text) > _MAX_EXPANDED:
        return text
    found = _PROPERTY.sub(lambda match: properties.get(match.group(1)) or match.group(), text)
    return found[: _MAX_EXPANDED + 1]


def _resolved(raw: Mapping[str, str]) -> dict[str, str]:
    """All properties with nested ones replaced, each once; circular or too deep references stay as they are."""
    found: dict[str, str] = {}

    def resolve(name: str, depth: int) -> str:
        if name in found:
            return found[name]
        text = raw.get(name, "")[: _MAX_EXPANDED + 1]
        found[name] = text  # a marker during the resolution, which ends cycles
        if "${" in text and depth < _MAX_EXPANSIONS:
            found[name] = _PROPERTY.sub(lambda match: resolve(match.group(1), depth + 1) or match.group(), text)
            found[name] = found[name][: _MAX_EXPANDED + 1]
        return found[name]

    for name in raw:
        resolve(name, 0)
    return found
