"""`hallmark findings approve`."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from evidence.kinds import drift
from evidence.kinds.drift import Change, Drift
from evidence.model import Observed
from evidence.store import Approval
from workers.cli import decided
from workers.cli.console import Exit, fail, note, plain, show, table
from workers.cli.session import find_run, find_server, reading
from workers.clock import clock_at
from workers.settings import Settings


def approve(
    server: Annotated[str, typer.Argument(metavar="SERVER", help="Id, reference, name or part of one.")],
    note_: Annotated[str, typer.Option("--note", help="Why the changes are as they should be.")] = "",
    by: decided.By = "",
) -> None:
    """Approve a server's listing as the newest published run saw it: changes since then are told from there.

    An alarming change (a tool that reads and now deletes, text that speaks to the model) stays a finding every night
    until the old listing is back or somebody approves the new one. What is approved is shown.
    """
    who = decided.who(by)
    if not note_.strip():
        fail("expected --note with why the changes are as they should be", Exit.USAGE)
    with reading() as store:
        found = find_server(store, server)
        run = find_run(store, None)
        (dossier,) = store.dossiers(run.run.id, [found.id]) or (None,)
        content = dossier.read(drift.KIND) if dossier else None
        if not isinstance(content, Observed):
            fail(f"run {run.run.id} compared no listing of {found.ref}: there is nothing to approve", Exit.NOTHING)
        seen = Drift.parse(content.body)
        if seen.baseline == seen.listing:
            note(f"{found.ref}: nothing changed since the approved listing")
            raise typer.Exit(Exit.OK)
        show(_table(seen.changes))
        at = clock_at(Settings().clock).wall()
        store.approve(Approval(server=found.id, listing=seen.listing, at=at, who=who, note=note_))
        note(f"{found.ref}: the listing of run {run.run.id} is approved; the next run compares with it")


def _table(changes: tuple[Change, ...]) -> Table:
    grid = table("Where", "What", "Says now", "May now")
    for change in changes:
        grid.add_row(
            plain(change.at),
            change.what.value,
            plain(", ".join(change.signals)),
            plain(", ".join(each.value for each in change.escalations)),
        )
    return grid
