"""Withdrawn snapshots: what was made private again must not be readable, whatever digests say (docs/decisions/0030)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from evidence.store import FindingRow, FindingState, Store
from publish.datasets.format.tables import LINES
from publish.datasets.snapshot import storage
from publish.datasets.snapshot.manifest import MANIFEST
from publish.datasets.snapshot.reader import UnreadableFile, open_snapshot

_PRIVATE = (FindingState.PRIVATE_TRIAGE, FindingState.PRIVATE_DISCLOSED)


def withdraw_snapshots(store: Store, place: str) -> list[str]:
    """Remove the snapshots of a folder that tell of a finding which was reopened since they were written; their ids.

    The newest night is written again without it by who asks for datasets next.
    """
    if not storage.is_local_folder(place):
        return []
    gone = []
    for snapshot in storage.list_snapshots(place):
        folder = Path(place) / snapshot.id
        written = datetime.fromtimestamp((folder / MANIFEST).stat().st_mtime, UTC)
        if _tells(folder, read_reopened_findings(store, written)):
            storage.remove_snapshot(place, snapshot.id)
            gone.append(snapshot.id)
    return gone


def read_reopened_findings(store: Store, since: datetime) -> list[FindingRow]:
    """The findings that were made private again since a moment."""
    rows = [row for row in store.read_findings(states=_PRIVATE) if row.since > since]
    trails = store.read_finding_trail([row.finding.id for row in rows])
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
    except UnreadableFile:
        return True
