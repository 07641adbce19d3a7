"""Gemfile.lock."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct, field

from evidence.lockfiles.lockfile import (
    Dependency,
    Ecosystem,
    Fault,
    FaultKind,
    Finding,
    Relation,
    Source,
    to_printable_text,
)
from evidence.lockfiles.parsing.bounded import decode_generated_text, find_missing_packages, find_unfinished_end
from evidence.lockfiles.versions import parse_concrete_version

_SECTION = re.compile(r"[A-Z][A-Z ]*$")
_SPEC = re.compile(r"(\S+) \(([^()\s]+)\)$")
_SOURCES = {"GEM": Source.REGISTRY, "GIT": Source.GIT, "PATH": Source.PATH, "PLUGIN SOURCE": Source.REGISTRY}


class _Gems(Struct):
    """What has been read so far."""

    specs: list[tuple[str, str, Source, str | None]] = field(default_factory=list)
    needs: set[str] = field(default_factory=set)
    direct: set[str] = field(default_factory=set)
    sections: set[str] = field(default_factory=set)


def read_gemfile_lock(data: bytes) -> Iterator[Finding]:
    """All gems; groups such as development are only in the Gemfile."""
    text = decode_generated_text(data)
    yield from find_unfinished_end(text)
    gems = _Gems()
    yield from _parse(text, gems)
    if "DEPENDENCIES" not in gems.sections:
        yield Fault(FaultKind.TRUNCATED if gems.sections else FaultKind.EMPTY, "no section DEPENDENCIES")
    # Bundler is the package manager itself: gems may depend on it, and it is never locked.
    yield from find_missing_packages((gems.needs | gems.direct) - {name for name, *_ in gems.specs} - {"bundler"})
    for name, raw, source, location in gems.specs:
        yield Dependency(
            ecosystem=Ecosystem.RUBYGEMS,
            name=name,
            version=parse_concrete_version(Ecosystem.RUBYGEMS, raw.partition("-")[0]),  # the rest is a platform
            relation=Relation.DIRECT if name in gems.direct else Relation.TRANSITIVE,
            source=source,
            location=location,
        )


def _parse(text: str, gems: _Gems) -> Iterator[Fault]:
    section, location = "", ""
    for number, line in enumerate(text.split("\n"), 1):
        body = line.strip()
        indent = len(line) - len(line.lstrip(" "))
        match indent:
            case _ if not body:
                continue
            case 0 if _SECTION.match(body):
                section, location = body, ""
                gems.sections.add(section)
            case 2 if section in _SOURCES and body.startswith("remote: "):
                location = body.removeprefix("remote: ")
            case 4 if section in _SOURCES:
                source = _SOURCES[section]
                if (spec := _SPEC.match(body)) is None:
                    yield Fault(
                        FaultKind.ENTRY, f"expected `name (version)`, found {to_printable_text(body)!r}", number, 5
                    )
                else:
                    where = location if source in {Source.GIT, Source.PATH} else None
                    gems.specs.append((spec.group(1), spec.group(2), source, where))
            case 6 if section in _SOURCES:
                gems.needs.add(body.partition(" ")[0])
            case 2 if section == "DEPENDENCIES":
                gems.direct.add(body.partition(" ")[0].removesuffix("!"))
            case _ if indent == 0 or not section:
                yield Fault(FaultKind.ENTRY, f"outside every section: {to_printable_text(body)!r}", number, 1)
