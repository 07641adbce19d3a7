"""`hallmark findings approve`."""

from __future__ import annotations

import click
from rich.table import Table

from evidence.kinds import drift
from evidence.kinds.drift import Change, Drift
from evidence.model import Observed
from evidence.store import Approval
from workers.cli import operator
from workers.cli.display.console import ExitCode, clean_text, exit_with_error, make_table, print_data, print_note
from workers.cli.session import find_run, find_server, open_read_store


@click.command()
@click.argument("server", help="Id, reference, name or part of one.")
@click.option("--note", "note_", default="", show_default=False, help="Why the changes are acceptable.")
@operator.by_option
def approve(server: str, note_: str, by: str) -> None:
    """Approve the listing of a server in the newest published run. Later changes are compared with it.

    An alarming change (a tool that only read and now deletes, text that instructs the model) is a finding in every run
    until the old listing is back or an operator approves the new one. The command prints the approved changes.
    """
    who = operator.find_decider(by)
    if not note_.strip():
        exit_with_error("expected --note with why the changes are acceptable", ExitCode.USAGE)
    with open_read_store() as store:
        found = find_server(store, server)
        run = find_run(store, None)
        (dossier,) = store.read_dossiers(run.run.id, [found.id]) or (None,)
        content = dossier.read(drift.KIND) if dossier else None
        if not isinstance(content, Observed):
            exit_with_error(
                f"run {run.run.id} compared no listing of {found.ref}: there is nothing to approve", ExitCode.NOTHING
            )
        seen = Drift.parse(content.body)
        if seen.baseline == seen.listing:
            print_note(f"{found.ref}: nothing changed since the approved listing")
            raise click.exceptions.Exit(ExitCode.OK)
        print_data(_table(seen.changes))
        at = operator.read_clock()
        store.put_approval(Approval(server=found.id, listing=seen.listing, at=at, who=who, note=note_))
        print_note(f"{found.ref}: the listing of run {run.run.id} is approved; later runs compare with it")


def _table(changes: tuple[Change, ...]) -> Table:
    grid = make_table("Where", "What", "New instructions", "New abilities")
    for change in changes:
        grid.add_row(
            clean_text(change.at),
            change.what.value,
            clean_text(", ".join(change.signals)),
            clean_text(", ".join(each.value for each in change.escalations)),
        )
    return grid
