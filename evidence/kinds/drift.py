"""Kind `drift`: the changes of a server's listing since the last approved one, and which of them are alarming.

Body, schema 1 (canonical JSON):

    {"baseline": DIGEST, "listing": DIGEST, "alarm": BOOL, "complete": BOOL,
     "changes": [{"at": STRING, "what": "added" | "removed" | "changed",
                  "before": DIGEST | null, "after": DIGEST | null,
                  "signals": [PATTERN, ...], "escalations": [ESCALATION, ...]}, ...],
     "signals": [PATTERN, ...], "escalations": [ESCALATION, ...],
     "approved": {"entries": {AT: DIGEST, ...}, "signals": {AT: [PATTERN, ...], ...}, "tools": {AT: TOOL, ...}}}

    TOOL: {"authority": AUTHORITY, "hints": {HINT: BOOL, ...}}

`baseline` is the digest of the approved listing, `listing` of the observed one, both over the entries, so the order of
tools, pages and keys does not matter. `at` is a place such as `tools/x/description`. `signals` are ids of poisoning
patterns that match the place now and did not match it in the approved listing. `alarm`: there is a signal or an
escalation that stays open until an operator approves the listing or the approved one returns; the baseline stays while
an alarm is open and otherwise follows the listing. `complete`: every declared list was read to its end, and nothing was
cut at a bound; entries that an incomplete walk did not reach are not reported as removed. `approved` is the baseline
itself, for the comparison in the next run.
DIGEST: first 32 hexadecimal digits of a SHA-256 for an entry, all 64 for a listing.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from msgspec import Struct, field

from evidence.canonical import Json, parse_json
from evidence.json_members import array_or_empty, object_or_empty, read_members, strings_in, text_or_empty
from evidence.kinds.traits import Traits

KIND: Final = "drift"
SCHEMA: Final = 1
TRAITS: Final = Traits(private=True, chained=True)

LISTING: Final = "listing"
"""Member of the observation: the digest of the listing that the record was made of."""

CLEAN: Final = "clean"
"""Member of the observation, True when the scan of that listing, made for this record, found nothing."""


class ChangeType(StrEnum):
    """The type of a change at a place."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


class Escalation(StrEnum):
    """A change that gives a server more power or asks a user for more."""

    AUTHORITY_RAISED = "authority-raised"  # a known tool has more authority, such as destructive instead of reading
    HINT_WITHDRAWN = "hint-withdrawn"  # readOnlyHint true or destructiveHint false is no longer stated
    DEED_CALLED_READING = "deed-called-reading"  # a tool known to write now claims to be read-only
    ASKS_FOR_CREDENTIAL = "asks-for-credential"  # a new parameter of a known tool takes a credential
    ASKS_FOR_FILE = "asks-for-file"  # a new parameter of a known tool takes a path or a command
    SCHEMA_WIDENED = "schema-widened"  # more is accepted than before: type, enum, additional properties
    INSTRUCTIONS_CHANGED = "instructions-changed"
    IDENTITY_CHANGED = "identity-changed"  # the server has another name


ALARMING: Final = frozenset(
    {
        Escalation.AUTHORITY_RAISED,
        Escalation.DEED_CALLED_READING,
        Escalation.ASKS_FOR_CREDENTIAL,
        Escalation.IDENTITY_CHANGED,
    }
)
"""Escalations that keep the baseline. The others are reported only, because ordinary releases contain them too."""


class Change(Struct, frozen=True, kw_only=True):
    """One place that differs from the approved listing. Escalations of a newer schema are left out."""

    at: str
    what: ChangeType
    before: str | None
    after: str | None
    signals: tuple[str, ...] = ()
    escalations: tuple[Escalation, ...] = ()


class ApprovedTool(Struct, frozen=True, kw_only=True):
    """The class (`evidence.authority`) and the hints of one approved tool."""

    authority: str
    hints: Mapping[str, bool] = field(default_factory=dict)


class Approved(Struct, frozen=True, kw_only=True):
    """The baseline: digests by place, its poisoning signals, and authority and hints of each tool."""

    entries: Mapping[str, str] = field(default_factory=dict)
    signals: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    tools: Mapping[str, ApprovedTool] = field(default_factory=dict)


class Drift(Struct, frozen=True, kw_only=True):
    """Typed, tolerant view of a drift body."""

    baseline: str
    listing: str
    alarm: bool
    complete: bool
    changes: tuple[Change, ...]
    signals: tuple[str, ...]
    escalations: tuple[Escalation, ...]
    approved: Approved

    @staticmethod
    def parse(body: bytes) -> Drift:
        """View over the body; raise NotJson when the bytes are not JSON."""
        members = object_or_empty(parse_json(body))
        return read_members(
            Drift,
            members,
            complete=members.get("complete") is not False,
            changes=tuple(_change(object_or_empty(row)) for row in array_or_empty(members.get("changes"))),
            escalations=_escalations(members.get("escalations")),
            approved=_approved(object_or_empty(members.get("approved"))),
        )


def _change(row: Mapping[str, Json]) -> Change:
    what = text_or_empty(row.get("what"))
    return read_members(
        Change,
        row,
        what=ChangeType(what) if what in set(ChangeType) else ChangeType.CHANGED,
        before=text_or_empty(row.get("before")) or None,
        after=text_or_empty(row.get("after")) or None,
        escalations=_escalations(row.get("escalations")),
    )


def _approved(members: Mapping[str, Json]) -> Approved:
    entries, tools = object_or_empty(members.get("entries")), object_or_empty(members.get("tools"))
    return Approved(
        entries={at: digest for at, digest in entries.items() if isinstance(digest, str)},
        signals={at: strings_in(patterns) for at, patterns in object_or_empty(members.get("signals")).items()},
        tools={name: _approved_tool(object_or_empty(tool)) for name, tool in tools.items()},
    )


def _approved_tool(tool: Mapping[str, Json]) -> ApprovedTool:
    hints = {name: hint for name, hint in object_or_empty(tool.get("hints")).items() if isinstance(hint, bool)}
    return read_members(ApprovedTool, tool, hints=hints)


def _escalations(value: Json) -> tuple[Escalation, ...]:
    return tuple(Escalation(text) for text in strings_in(value) if text in set(Escalation))
