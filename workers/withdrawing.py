"""Withdrawn snapshots: what was made private again must not be readable, whatever digests say (docs/decisions/0030)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from evidence.store import FindingRow, FindingState, Store
from publish.datasets import shelf
from publish.datasets.manifest import MANIFEST
from publish.datasets.reading import Unreadable, open_snapshot
from publish.datasets.tables import LINES

_PRIVATE = (FindingState.PRIVATE_TRIAGE, FindingState.PRIVATE_DISCLOSED)


def withdraw(store: Store, place: str) -> list[str]:
    """Remove the snapshots of a folder that tell of a finding which was reopened since they were written; their ids.

    The newest night is written again without it by who asks for datasets next.
    """
    if not shelf.is_local(place):
        return []
    gone = []
    for snapshot in shelf.listed(place):
        folder = Path(place) / snapshot.id
        written = datetime.fromtimestamp((folder / MANIFEST).stat().st_mtime, UTC)
        if _tells(folder, reopened(store, written)):
            shelf.remove(place, snapshot.id)
            gone.append(snapshot.id)
    return gone


def reopened(store: Store, since: datetime) -> list[FindingRow]:
    """The findings that were made private again since a moment."""
    rows = [row for row in store.findings(states=_PRIVATE) if row.since > since]
    trails = store.trail([row.finding.id for row in rows])
    return [row for row in rows if any(one.before is FindingState.PUBLIC_DISCLOSED for one in trails[row.finding.id])]


def _tells(folder: Path, findings: Iterable[FindingRow]) -> bool:
    """Whether a snapshot may have a line of one of these findings: one of their rules about their servers.

    Lines about all that is said name the place in their words only. What cannot be read is taken to have one.
    """
    told = {(row.finding.server, row.finding.rule) for row in findings}
    if not told:
        return False
    try:
        rows = open_snapshot(folder).rows(LINES)
        return any((row["server"], row["rule"]) in told for row in rows)
    except Unreadable:
        return True
