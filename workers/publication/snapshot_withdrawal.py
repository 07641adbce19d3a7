"""Withdraws snapshots that contain findings which were made private again (docs/decisions/0030)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from evidence.store import FindingRow, FindingState, Store
from publish.datasets.format.tables import LINES
from publish.datasets.snapshot import storage
from publish.datasets.snapshot.manifest import MANIFEST
from publish.datasets.snapshot.reader import UnreadableFile, open_snapshot

_WITHDRAWN = (FindingState.PRIVATE_TRIAGE, FindingState.PRIVATE_DISCLOSED, FindingState.DISMISSED)


def withdraw_snapshots(store: Store, location: str) -> list[str]:
    """Remove local snapshots that contain a finding reopened since they were written; return their ids.

    The next call that writes datasets writes the newest run again, without the finding.
    """
    if not storage.is_local_folder(location):
        return []
    removed = []
    for snapshot in storage.list_snapshots(location):
        folder = Path(location) / snapshot.id
        written = datetime.fromtimestamp((folder / MANIFEST).stat().st_mtime, UTC)
        if _has_lines(folder, read_reopened_findings(store, written)):
            storage.remove_snapshot(location, snapshot.id)
            removed.append(snapshot.id)
    return removed


def read_reopened_findings(store: Store, since: datetime) -> list[FindingRow]:
    """The findings that were made private again after `since`, those that were dismissed then too."""
    rows = [row for row in store.read_findings(states=_WITHDRAWN) if row.since > since]
    trails = store.read_finding_trail([row.finding.id for row in rows])
    return [
        row
        for row in rows
        if any(one.before is FindingState.PUBLIC_DISCLOSED and one.at > since for one in trails.get(row.finding.id, ()))
    ]


def _has_lines(folder: Path, findings: Iterable[FindingRow]) -> bool:
    """Whether a snapshot has a line with the rule and server of a finding; True when it cannot be read.

    The place is not compared: some lines name it only in their text.
    """
    known = {(row.finding.server, row.finding.rule) for row in findings}
    if not known:
        return False
    try:
        rows = open_snapshot(folder).rows(LINES)
        return any((row["server"], row["rule"]) in known for row in rows)
    except UnreadableFile:
        return True
