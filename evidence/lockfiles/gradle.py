"""gradle.lockfile and buildscript-gradle.lockfile."""

from __future__ import annotations

from collections.abc import Iterator

from evidence.lockfiles.lockfile import Dependency, Ecosystem, Fault, FaultKind, Finding, Scope, to_printable_text
from evidence.lockfiles.parsing.bounded import decode_generated_text
from evidence.lockfiles.versions import parse_concrete_version


def read_gradle_lock(data: bytes) -> Iterator[Finding]:
    """All entries `group:artifact:version=configurations`; one for test configurations only is a dev dependency."""
    text = decode_generated_text(data)
    ended = False
    for number, line in enumerate(text.split("\n"), 1):
        body = line.strip()
        if not body or body.startswith("#"):
            continue
        coordinates, equals, configurations = body.partition("=")
        if coordinates == "empty" and equals:
            ended = True
            continue
        parts = coordinates.split(":")
        if not equals or len(parts) != 3 or not all(parts):
            yield Fault(
                FaultKind.ENTRY, f"expected `group:artifact:version=...`, found {to_printable_text(body)!r}", number, 1
            )
            continue
        for_tests = all(name.startswith("test") for name in configurations.split(","))
        yield Dependency(
            ecosystem=Ecosystem.MAVEN,
            name=f"{parts[0]}:{parts[1]}",
            version=parse_concrete_version(Ecosystem.MAVEN, parts[2]),
            scopes=frozenset({Scope.DEV} if for_tests else ()),
        )
    if not ended:
        yield Fault(FaultKind.TRUNCATED, "no `empty=`, with which Gradle ends the file")
