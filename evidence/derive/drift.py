"""Compares a listing with the last approved one. Pure: the records of two runs in, a drift record out.

The approved listing follows the observed one while no change raises an alarm. After an alarm it stays as it was, so
that the alarm remains until an operator approves the new listing or the server returns to the approved one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import Final, TypeAlias

from msgspec import Struct

from evidence.canonical import Json, canonical_json
from evidence.derive.escalation import find_escalations
from evidence.derive.listing_outline import Outline, digest_entries, escape_place, outline_listing
from evidence.derive.listing_scan import scan_listing_cached
from evidence.kinds import listing
from evidence.kinds.drift import ALARMING, KIND, LISTING, Approved, ApprovedTool, Change, ChangeType, Drift
from evidence.kinds.listing import Listing
from evidence.model import Absent, Dossier, Observed, Record, ServerId
from evidence.patterns.poisoning import Confidence

ApprovalCheck: TypeAlias = Callable[[ServerId, str], bool]
"""Whether an operator has approved a server's listing, given by its digest."""

Values: TypeAlias = Callable[[], Outline | None]
"""Parses the last listing; called only when something changed."""

MAX_CHANGES: Final = 2_000
"""Changes that the body lists. The alarm considers all of them."""


class DerivedDrift(Struct, frozen=True):
    """The content of a drift record. `is_clean`: the listing was scanned for it, and the scan found nothing."""

    content: Observed | Absent
    is_clean: bool = False


class _Signals(Struct, frozen=True):
    """Poisoning patterns by place, the (place, pattern) pairs with high confidence, and whether nothing was found."""

    at: Mapping[str, tuple[str, ...]]
    certain: frozenset[tuple[str, str]]
    is_clean: bool


def no_approval(_server: ServerId, _digest: str) -> bool:
    return False


def derive_drift(
    found: Dossier, earlier: Dossier, approved: ApprovalCheck = no_approval, *, same_version: bool = False
) -> DerivedDrift:
    """The drift of the listing in `found` since the baseline in `earlier`.

    Without a listing the earlier drift record stays valid, so that the baseline outlives a run in which the server was
    down. In the first run the baseline is the listing in `earlier`, or else the current one. `same_version`: the drift
    record in `earlier` was made with these patterns, so that it stays valid for the same listing.
    """
    content, known = found.read(listing.KIND), earlier.read(KIND)
    if isinstance(content, Absent):
        return DerivedDrift(known if isinstance(known, Observed) else content)
    if same_version and is_of_listing(earlier.records.get(KIND), content.digest) and _is_settled(known):
        return DerivedDrift(known)
    seen = Listing.parse(content.body)
    now = outline_listing(seen)
    signals = _signals(seen, now)
    before = _baseline(known, earlier)
    tonight = _merged(now, signals, before)
    if before is None or approved(found.server.id, digest_entries(tonight.entries)):
        before = tonight
    changes, alarm = _changes(before, tonight, now, signals, cache(partial(_values, earlier)))
    kept = before if alarm else tonight
    body = _body(kept, tonight, changes, alarm=alarm, complete=_is_complete(now))
    return DerivedDrift(Observed(canonical_json(body)), signals.is_clean)


def is_of_listing(record: Record | None, digest: str) -> bool:
    """Whether a record of drift was made of the listing with this digest."""
    return record is not None and record.observation.get(LISTING) == digest


def _is_settled(known: Observed | Absent) -> bool:
    """Whether an earlier record has no changes: comparing the same listing once more would give the same."""
    last = None if isinstance(known, Absent) else Drift.parse(known.body)
    return last is not None and last.complete and not last.changes


def _baseline(known: Observed | Absent, earlier: Dossier) -> Approved | None:
    if isinstance(known, Observed):
        return Drift.parse(known.body).approved
    content = earlier.read(listing.KIND)
    if isinstance(content, Absent):
        return None
    seen = Listing.parse(content.body)
    before = outline_listing(seen)
    return Approved(entries=before.digests, signals=_signals(seen, before).at, tools=before.tools)


def _values(earlier: Dossier) -> Outline | None:
    """The last listing. Its values show how a place changed, as long as the place still equals the baseline."""
    content = earlier.read(listing.KIND)
    return outline_listing(Listing.parse(content.body)) if isinstance(content, Observed) else None


def _signals(seen: Listing, now: Outline) -> _Signals:
    found: dict[str, set[str]] = {}
    certain: set[tuple[str, str]] = set()
    hits = scan_listing_cached(seen)
    for hit in hits:
        if hit.confidence is Confidence.LOW:
            continue
        at = _entry(escape_place(hit.at), now)
        found.setdefault(at, set()).add(hit.pattern)
        if hit.is_grave:
            certain.add((at, hit.pattern))
    by_place = {at: tuple(sorted(patterns)) for at, patterns in sorted(found.items())}
    return _Signals(by_place, frozenset(certain), is_clean=not hits)


def _entry(at: str, now: Outline) -> str:
    """The compared place that contains the place of a text."""
    while at and at not in now.values:
        at = at.rpartition("/")[0]
    return at


def _merged(now: Outline, signals: _Signals, before: Approved | None) -> Approved:
    """The current listing, completed with the baseline entries of lists that were not read to their end."""
    if before is None or _is_complete(now):
        return Approved(entries=now.digests, signals=signals.at, tools=now.tools)
    kept = {at: digest for at, digest in before.entries.items() if not _is_removed(at, now)}
    return Approved(
        entries={**kept, **now.digests},
        signals={**{at: each for at, each in before.signals.items() if at in kept}, **signals.at},
        tools={**{at: each for at, each in before.tools.items() if at in kept}, **now.tools},
    )


def _is_complete(now: Outline) -> bool:
    return len(now.whole) == len(listing.LISTS) + 1 and not now.cut


def _is_removed(at: str, now: Outline) -> bool:
    """Whether a place that is missing now was removed: its list was read to the end, or its item was seen."""
    name, _, rest = at.partition("/")
    met = f"{name}/{rest.partition('/')[0]}" in now.values
    return not now.cut and (name in now.whole or met)


def _changes(
    before: Approved, tonight: Approved, now: Outline, signals: _Signals, values: Values
) -> tuple[list[Change], bool]:
    changes = list(_compared(before, tonight, now, values))
    certain = any((change.at, signal) in signals.certain for change in changes for signal in change.signals)
    return changes, certain or any(ALARMING & set(change.escalations) for change in changes)


def _compared(before: Approved, tonight: Approved, now: Outline, values: Values) -> Iterator[Change]:
    for at in sorted({*before.entries, *tonight.entries}):
        old, new = before.entries.get(at), tonight.entries.get(at)
        if old == new:
            continue
        last, known = values(), set(before.signals.get(at, ()))
        what = ChangeType.ADDED if old is None else ChangeType.REMOVED if new is None else ChangeType.CHANGED
        value = last.values.get(at) if last is not None and last.digests.get(at) == old else None
        yield Change(
            at=at,
            what=what,
            before=old,
            after=new,
            signals=tuple(signal for signal in tonight.signals.get(at, ()) if signal not in known),
            escalations=find_escalations(at, what, before.tools, now, value),
        )


def _body(kept: Approved, tonight: Approved, changes: list[Change], *, alarm: bool, complete: bool) -> dict[str, Json]:
    signals = sorted({signal for change in changes for signal in change.signals})
    raised = sorted({each.value for change in changes for each in change.escalations})
    return {
        "baseline": digest_entries(kept.entries),
        "listing": digest_entries(tonight.entries),
        "alarm": alarm,
        "complete": complete and len(changes) <= MAX_CHANGES,
        "changes": [_row(change) for change in sorted(changes, key=_by_weight)[:MAX_CHANGES]],
        "signals": signals,
        "escalations": raised,
        "approved": {
            "entries": dict(kept.entries),
            "signals": {at: list(patterns) for at, patterns in kept.signals.items()},
            "tools": {at: _tool_row(tool) for at, tool in kept.tools.items()},
        },
    }


def _by_weight(change: Change) -> tuple[bool, bool, str]:
    """Sort key: alarming changes first, so that the bound cuts off the others."""
    return not change.signals, not set(change.escalations) & ALARMING, change.at


def _row(change: Change) -> dict[str, Json]:
    return {
        "at": change.at,
        "what": change.what.value,
        "before": change.before,
        "after": change.after,
        "signals": list(change.signals),
        "escalations": [each.value for each in change.escalations],
    }


def _tool_row(tool: ApprovedTool) -> dict[str, Json]:
    return {"authority": tool.authority, "hints": dict(tool.hints)}
