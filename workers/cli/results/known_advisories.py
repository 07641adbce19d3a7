"""Published advisories about the dependencies of servers; they are read from evidence, not stored as findings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from evidence.kinds import advisories
from evidence.kinds.advisories import Advisories, Group
from evidence.model import Dossier, Server
from evidence.store import Store
from workers.cli.display.console import clean_text, make_table, print_data, print_json
from workers.cli.session import find_run

PUBLIC_KNOWN: Final = "public_known"

_BATCH: Final = 200


def print_known_advisories(store: Store, run: str, only: Sequence[Server] | None, *, as_json: bool) -> None:
    run_id = find_run(store, run).run.id
    planned = store.list_planned_servers(run_id)
    wanted = planned if only is None else [server.id for server in only if server.id in set(planned)]
    grid = make_table("Advisory", "State", "Server", "Package", "Version", "Severity", "Fixed in")
    for dossier, group in _groups(store, run_id, wanted):
        if as_json:
            print_json(_json(dossier, group))
            continue
        cells = (group.id, PUBLIC_KNOWN, dossier.server.ref, group.package, group.version, group.severity, group.fixed)
        grid.add_row(*map(clean_text, cells))
    if not as_json and grid.row_count:
        print_data(grid)


def _groups(store: Store, run_id: str, servers: Sequence[str]) -> Iterator[tuple[Dossier, Group]]:
    for start in range(0, len(servers), _BATCH):
        for dossier in store.read_dossiers(run_id, servers[start : start + _BATCH]):
            found = dossier.parsed(advisories.KIND, Advisories.parse)
            for group in found.groups if found else ():
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
        "exploited": group.exploited or None,
    }
