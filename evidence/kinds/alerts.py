"""Kind `alerts`: Dependabot's alerts on a repository that the operator's own token may read. Private, never published.

Body, schema 1 (canonical JSON):

    {"alerts": [{"id": GHSA, "cve": TEXT | null, "ecosystem": NAME | null, "package": NAME | null,
                 "range": RANGE | null, "fixed": VERSION | null, "severity": TEXT | null, "state": TEXT | null,
                 "scope": "runtime" | "development" | null, "manifest": PATH | null}, ...],
     "complete": BOOL}

`complete` is false when the host has more alerts than are read. For repositories that the token may not read, which is
Absent(forbidden) and no statement about the repository, the kinds `dependencies` and `advisories` provide the alerts.

Observation: `looked_at`, when the content was last confirmed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from evidence.canonical import Json, parse_json
from evidence.json_members import object_or_empty, text_or_none
from evidence.kinds.traits import Traits

KIND: Final = "alerts"
SCHEMA: Final = 1
TRAITS: Final = Traits(private=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Alert:
    """One advisory that affects one manifest of the repository, as the host reports it."""

    id: str
    cve: str | None = None
    ecosystem: str | None = None
    package: str | None = None
    range: str | None = None
    fixed: str | None = None
    severity: str | None = None
    state: str | None = None
    scope: str | None = None
    manifest: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Alerts:
    """Typed, tolerant view of an alerts body."""

    alerts: tuple[Alert, ...] = ()
    complete: bool = False

    @staticmethod
    def parse(body: bytes) -> Alerts:
        """View over the body; raise NotJson when the bytes are not JSON."""
        members = object_or_empty(parse_json(body))
        stated = members.get("alerts")
        items = stated if isinstance(stated, Sequence) and not isinstance(stated, str) else ()
        return Alerts(
            alerts=tuple(alert for item in items if (alert := _alert(object_or_empty(item))) is not None),
            complete=members.get("complete") is True,
        )


def _alert(members: Mapping[str, Json]) -> Alert | None:
    ghsa = text_or_none(members.get("id"))
    if not ghsa:
        return None
    return Alert(
        id=ghsa,
        cve=text_or_none(members.get("cve")),
        ecosystem=text_or_none(members.get("ecosystem")),
        package=text_or_none(members.get("package")),
        range=text_or_none(members.get("range")),
        fixed=text_or_none(members.get("fixed")),
        severity=text_or_none(members.get("severity")),
        state=text_or_none(members.get("state")),
        scope=text_or_none(members.get("scope")),
        manifest=text_or_none(members.get("manifest")),
    )
