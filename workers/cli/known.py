"""Advisories about what a server is built from: public, so read from the evidence instead of kept as findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from evidence.canonical import NotJson
from evidence.kinds import advisories
from evidence.kinds.advisories import Advisories, Group
from evidence.model import Absent, Dossier, Server
from evidence.store import Store
from workers.cli.console import emit, plain, show, table
from workers.cli.session import find_run

PUBLIC_KNOWN: Final = "public_known"

_BATCH: Final = 200


def emit_known(store: Store, run: str, only: Sequence[Server] | None, *, as_json: bool) -> None:
    """Print the advisories of a run, of all its servers or some."""
    run_id = find_run(store, run).run.id
    planned = store.planned(run_id)
    wanted = planned if only is None else [server.id for server in only if server.id in set(planned)]
    grid = table("Advisory", "State", "Server", "Package", "Version", "Severity", "Fixed in")
    for dossier, group in _groups(store, run_id, wanted):
        if as_json:
            emit(_json(dossier, group))
            continue
        cells = (group.id, PUBLIC_KNOWN, dossier.server.ref, group.package, group.version, group.severity, group.fixed)
        grid.add_row(*map(plain, cells))
    if not as_json and grid.row_count:
        show(grid)


def _groups(store: Store, run_id: str, servers: Sequence[str]) -> Iterator[tuple[Dossier, Group]]:
    for start in range(0, len(servers), _BATCH):
        for dossier in store.dossiers(run_id, servers[start : start + _BATCH]):
            content = dossier.read(advisories.KIND)
            if isinstance(content, Absent):
                continue
            try:
                found = Advisories.parse(content.body)
            except NotJson:
                continue
            for group in found.groups:
                yield dossier, group


def _json(dossier: Dossier, group: Group) -> dict[str, object]:
    return {
        "finding": group.id,
        "state": PUBLIC_KNOWN,
        "server": dossier.server.id,
        "ref": dossier.server.ref,
        "ids": list(group.ids),
        "ecosystem": group.ecosystem,
        "package": group.package,
        "version": group.version,
        "severity": group.severity.value,
        "fixed": group.fixed or None,
    }
