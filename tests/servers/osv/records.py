"""Small OSV records of our own invention."""

from __future__ import annotations

from typing import Any

Record = dict[str, Any]

CRITICAL = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"
MEDIUM = "CVSS:3.1/AV:N/AC:H/PR:N/UI:N/S:U/C:L/I:L/A:N"


def span(*events: tuple[str, str], kind: str = "ECOSYSTEM") -> Record:
    """A range: `span(("introduced", "0"), ("fixed", "1.2"))`."""
    return {"type": kind, "events": [{name: version} for name, version in events]}


def affects(ecosystem: str, name: str, *ranges: Record, versions: list[str] | None = None) -> Record:
    """An entry of `affected`."""
    entry: Record = {"package": {"ecosystem": ecosystem, "name": name}}
    if ranges:
        entry["ranges"] = list(ranges)
    if versions is not None:
        entry["versions"] = versions
    return entry


def fixed_in(ecosystem: str, name: str, version: str) -> Record:
    """All versions below one."""
    kind = "ECOSYSTEM" if ecosystem in {"PyPI", "Maven", "Packagist", "RubyGems", "NuGet"} else "SEMVER"
    return affects(ecosystem, name, span(("introduced", "0"), ("fixed", version), kind=kind))


def advisory(name: str, *affected: Record, modified: str = "2026-01-02T03:04:05Z", **members: Any) -> Record:
    """A record; members are those of the schema."""
    return {
        "schema_version": "1.7.0",
        "id": name,
        "published": "2026-01-01T00:00:00Z",
        "modified": modified,
        "summary": f"Flaw {name}",
        **members,
        "affected": list(affected),
    }
