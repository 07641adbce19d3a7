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

from typing import Final

from msgspec import Struct

from evidence.canonical import parse_json
from evidence.json_members import object_or_empty, objects_in, read_members, text_or_none
from evidence.kinds.traits import Traits

KIND: Final = "alerts"
SCHEMA: Final = 1
TRAITS: Final = Traits(private=True)


class Alert(Struct, frozen=True, kw_only=True):
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


class Alerts(Struct, frozen=True, kw_only=True):
    """Typed, tolerant view of an alerts body."""

    alerts: tuple[Alert, ...] = ()
    complete: bool = False

    @staticmethod
    def parse(body: bytes) -> Alerts:
        """View over the body; raise NotJson when the bytes are not JSON."""
        members = object_or_empty(parse_json(body))
        items = objects_in(members.get("alerts"))
        return Alerts(
            alerts=tuple(read_members(Alert, item) for item in items if text_or_none(item.get("id"))),
            complete=members.get("complete") is True,
        )
