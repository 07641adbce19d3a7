"""Kind `advisories`: published advisories that affect the package versions a server is built from.

Body, schema 1 (canonical JSON):

    {"checked": INT, "unknown": [{"ecosystem": STRING, "name": STRING, "version": STRING, "why": STRING}, ...],
     "unknown_total": INT, "ecosystems": [STRING, ...],
     "groups": [{"ids": [STRING, ...], "ecosystem": STRING, "package": STRING, "version": STRING,
                 "relation": "itself" | "direct" | "transitive" | "unknown", "scopes": [STRING, ...],
                 "severity": "critical" | "high" | "medium" | "low" | "unknown", "cvss": STRING | null,
                 "vector": STRING | null, "fixed": STRING | null, "published": STRING | null,
                 "fixed_since": STRING | null, "summary": STRING, "exploited": STRING,
                 "via": [STRING, ...], "imported": BOOL,
                 "lock": FORMAT, "admitted": BOOL, "held_by": [[STRING, STRING], ...]}, ...],
     "groups_total": INT}

`checked` counts the versions that were compared with the advisories of their ecosystem. `unknown` (at most 200, sorted)
are those without a complete result, and why: `not_a_version`, `ecosystem_missing`, `not_from_registry`, `not_answered`
(by the API), and, when only some advisories could be compared with the version, `unordered` and `no_versions`.
`ecosystems` are those whose advisories were searched.

A group is one flaw in one version of one package: advisories that name each other as aliases are the same flaw. `ids`
are all their ids, the preferred id first. `cvss` is the base score with one decimal, of the newest CVSS version among
the vectors; `severity` is its rating, or the database's own severity when there is no vector; an advisory about malware
is critical. `fixed` is the lowest version above ours that an advisory names as fixed and none of the group affects.
`published` is the publication time of the first advisory of the group, `fixed_since` that of the first advisory that
names a fix. Both are RFC 3339. `exploited` is the date on which CISA's catalogue of known exploited vulnerabilities
listed one of the ids; it is missing where none is listed. `via` are at most three direct dependencies that bring a
transitive one. `imported` states whether the server's own code imports the package, or one of `via`; it is false only
when the source was read completely and computes no name, and missing where that is unknown. `lock` is the format of the
lockfile, or `installed`. `admitted` states whether all declared ranges admit `fixed`; `held_by` are those that do not,
each after a package that declares it, "" for the project. Both are missing where unknown. `groups` are sorted, worst
first, at most 2,000; the totals include what the bounds cut off.

Observation: `looked_at`, the time of the lookup (RFC 3339); `by`, `mirror` or `api`; and for a mirror `as_of` (when
each ecosystem was refreshed), `stale` and `partial` (ecosystems whose mirror is too old or incomplete); and
`exploited_as_of`, the time of the catalogue, null when none could be read. When no lookup was possible, content and
observation are those of an earlier run.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from msgspec import Struct

from evidence.canonical import Json, parse_json
from evidence.json_members import count_or_zero, object_or_empty, objects_in, read_members, strings_in, text_or_empty
from evidence.kinds.traits import Traits

KIND: Final = "advisories"
SCHEMA: Final = 1
TRAITS: Final = Traits(
    licence="Published advisories, under the terms of their sources (those of GitHub: CC BY 4.0).", stands_with=KIND
)


class Severity(StrEnum):
    """The severity of a flaw, by the rating of its CVSS base score."""

    CRITICAL = "critical"
    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"
    UNKNOWN = "unknown"


class Reach(StrEnum):
    """The relation of the affected package to the server: its own package, a direct or a transitive dependency."""

    ITSELF = "itself"
    DIRECT = "direct"
    TRANSITIVE = "transitive"
    UNKNOWN = "unknown"


_SEVERITIES: Final = {severity.value: severity for severity in Severity}
_REACHES: Final = {reach.value: reach for reach in Reach}


NOT_AT_RUNTIME: Final = frozenset({"dev", "optional", "peer"})


class Group(Struct, frozen=True, kw_only=True):
    """One flaw in one version of one package. Dates are RFC 3339 texts, empty where unknown."""

    ids: tuple[str, ...]
    ecosystem: str
    package: str
    version: str
    relation: Reach = Reach.UNKNOWN
    scopes: frozenset[str] = frozenset()
    severity: Severity = Severity.UNKNOWN
    cvss: str = ""
    vector: str = ""
    fixed: str = ""
    published: str = ""
    fixed_since: str = ""
    summary: str = ""
    exploited: str = ""
    via: tuple[str, ...] = ()
    imported: bool | None = None
    lock: str = ""
    admitted: bool | None = None
    held_by: tuple[tuple[str, str], ...] = ()

    @property
    def id(self) -> str:
        """The preferred id."""
        return self.ids[0] if self.ids else ""

    @property
    def is_at_runtime(self) -> bool:
        """Whether the package runs with the server: not only for development and not as an optional extra."""
        return not (self.scopes and self.scopes <= NOT_AT_RUNTIME)


class Unmatched(Struct, frozen=True, kw_only=True):
    """A dependency without a result, and why."""

    ecosystem: str
    name: str
    version: str
    why: str


class Advisories(Struct, frozen=True, kw_only=True):
    """Typed, tolerant view of an advisories body. The totals include what the bounds cut off."""

    checked: int
    groups: tuple[Group, ...] = ()
    groups_total: int = 0
    unknown: tuple[Unmatched, ...] = ()
    unknown_total: int = 0
    ecosystems: tuple[str, ...] = ()

    @staticmethod
    def parse(body: bytes) -> Advisories:
        """View over the body; raise NotJson when the bytes are not JSON."""
        members = object_or_empty(parse_json(body))
        groups = tuple(_group(raw) for raw in objects_in(members.get("groups")))
        unknown = tuple(read_members(Unmatched, raw) for raw in objects_in(members.get("unknown")))
        return read_members(
            Advisories,
            members,
            groups=groups,
            groups_total=max(count_or_zero(members.get("groups_total")), len(groups)),
            unknown=unknown,
            unknown_total=max(count_or_zero(members.get("unknown_total")), len(unknown)),
        )


def _group(raw: Mapping[str, Json]) -> Group:
    return read_members(
        Group,
        raw,
        relation=_REACHES.get(text_or_empty(raw.get("relation")), Reach.UNKNOWN),
        scopes=frozenset(strings_in(raw.get("scopes"))),
        severity=_SEVERITIES.get(text_or_empty(raw.get("severity")), Severity.UNKNOWN),
    )
