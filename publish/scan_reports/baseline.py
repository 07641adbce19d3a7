"""The baseline of a project: findings that its maintainers accept, each with a reason, in a file beside the code.

{"hallmark_baseline": 1, "findings": [{"fingerprint": HEX, "rule": ID, "at": PLACE, "reason": TEXT}, ...]}
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct

from evidence.canonical import NotJson, parse_json
from evidence.json_members import objects_in, text_or_empty
from evidence.model import Absent, Dossier
from publish.scan_reports.findings import ScanFinding, accept_findings
from publish.text.display import make_visible
from scoring.engine.rule import discover_rules

FORMAT: Final = 1
NEW_REASON: Final = "accepted by --write-baseline; replace this text with your reason"
MAX_BYTES: Final = 16 * 1024 * 1024
_MARK: Final = "hallmark_baseline"


class InvalidBaseline(ValueError):
    """The bytes are not a baseline; the message says what was expected and what was found."""


class BaselineEntry(Struct, frozen=True, kw_only=True):
    """One accepted finding. `rule` and `at` are for people; the fingerprint decides."""

    fingerprint: str
    rule: str
    at: str
    reason: str


class AppliedBaseline(Struct, frozen=True):
    """The findings with their acceptance. `stale` entries match nothing any more; `unexamined` ones could not be
    compared, because what their rule reads was not collected.
    """

    findings: tuple[ScanFinding, ...]
    stale: tuple[BaselineEntry, ...] = ()
    unexamined: tuple[BaselineEntry, ...] = ()

    @property
    def accepted(self) -> tuple[ScanFinding, ...]:
        return tuple(one for one in self.findings if one.accepted)


def parse_baseline(data: bytes) -> tuple[BaselineEntry, ...]:
    """The entries of a file; raise InvalidBaseline."""
    try:
        document = parse_json(data, max_bytes=MAX_BYTES)
    except NotJson as error:
        raise InvalidBaseline(f"expected a file that --write-baseline wrote; {error}") from error
    if not isinstance(document, Mapping) or document.get(_MARK) != FORMAT:
        found = document.get(_MARK) if isinstance(document, Mapping) else type(document).__name__
        raise InvalidBaseline(f"expected an object with {_MARK!r}: {FORMAT}; found {found!r}")
    return tuple(map(_parse_entry, objects_in(document.get("findings"))))


def apply_baseline(
    findings: Sequence[ScanFinding], entries: Iterable[BaselineEntry], dossier: Dossier
) -> AppliedBaseline:
    """Accept the findings that the entries name."""
    entries = tuple(entries)
    known = {one.fingerprint for one in findings}
    unmatched = [entry for entry in entries if entry.fingerprint not in known]
    unexamined = tuple(entry for entry in unmatched if not _is_examined(entry, dossier))
    return AppliedBaseline(
        findings=accept_findings(findings, {entry.fingerprint: entry.reason for entry in entries}),
        stale=tuple(entry for entry in unmatched if entry not in unexamined),
        unexamined=unexamined,
    )


def make_entries(applied: AppliedBaseline) -> tuple[BaselineEntry, ...]:
    """Entries for all findings that can refuse a project; known reasons and entries that were not examined stay."""
    new = (
        BaselineEntry(fingerprint=one.fingerprint, rule=one.rule, at=one.at, reason=one.accepted or NEW_REASON)
        for one in applied.findings
        if one.can_refuse
    )
    return tuple(sorted((*new, *applied.unexamined), key=lambda one: (one.rule, one.at, one.fingerprint)))


def encode_baseline(entries: Iterable[BaselineEntry]) -> bytes:
    rows = [
        {"fingerprint": one.fingerprint, "rule": one.rule, "at": make_visible(one.at), "reason": one.reason}
        for one in entries
    ]
    return json.dumps({_MARK: FORMAT, "findings": rows}, indent=1).encode() + b"\n"


def baseline_as_json(applied: AppliedBaseline) -> dict[str, Any]:
    """The baseline as one JSON object, described in `publish.scan_reports.schema`."""
    return {
        "accepted": len(applied.accepted),
        "stale": list(map(_entry_as_json, applied.stale)),
        "not_examined": list(map(_entry_as_json, applied.unexamined)),
    }


def _entry_as_json(entry: BaselineEntry) -> dict[str, str]:
    return {"fingerprint": entry.fingerprint, "rule": entry.rule, "at": entry.at, "reason": entry.reason}


def _parse_entry(row: Mapping[str, Any]) -> BaselineEntry:
    entry = BaselineEntry(**{name: text_or_empty(row.get(name)) for name in ("fingerprint", "rule", "at", "reason")})
    if not entry.fingerprint:
        raise InvalidBaseline(f"expected a fingerprint in every entry; found none for {entry.rule or 'an entry'}")
    if not entry.reason.strip():
        raise InvalidBaseline(f"expected a reason for {entry.rule} at {entry.at or 'the server'}; found none")
    return entry


def _is_examined(entry: BaselineEntry, dossier: Dossier) -> bool:
    """Whether what the entry's rule reads was collected; a rule that is gone finds nothing any more."""
    rule = discover_rules().get(entry.rule)
    return rule is None or not isinstance(dossier.read(rule.reads), Absent)
