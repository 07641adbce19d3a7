"""`hallmark show`."""

from __future__ import annotations

from typing import Annotated

import typer

from evidence.store import Store, StoredCard
from publish.dataset import describe
from scoring import catalogue, receipt
from scoring.rubric import Rubric
from workers.cli.console import Exit, emit, fail
from workers.cli.page import show_server
from workers.cli.receipts import newest_only
from workers.cli.session import find_run, find_server, reading

app = typer.Typer(add_completion=False)


@app.command()
def show(
    *,
    server: Annotated[str, typer.Argument(help="Id, reference or name of a server, or a part that only fits one.")],
    rubric: Annotated[str | None, typer.Option(help="Only this rubric, such as `lint` or `lint@1`.")] = None,
    run: Annotated[str, typer.Option(help="Id of a run, the beginning of one, or `latest`.")] = "latest",
    evidence: Annotated[bool, typer.Option("--evidence", help="Also show what was observed.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, for programs.")] = False,
) -> None:
    """Show one server's receipts, line by line: what gave and cost points, where, and why.

    Examples:

    hallmark show npm:@modelcontextprotocol/server-everything

    hallmark show time --rubric lint --evidence
    """
    with reading() as store:
        run_id = find_run(store, run).run.id
        found = find_server(store, server)
        if found.id not in store.planned(run_id):
            fail(
                f"{found.ref} is not part of run {run_id}. `hallmark runs` lists others; choose with --run",
                Exit.NOTHING,
            )
        dossier = store.dossiers(run_id, [found.id])[0]
        cards = chosen(store, run_id, found.id, rubric)
        if as_json:
            emit({"run": run_id, **describe(dossier, cards)})
            return
        show_server(dossier, newest_only([receipt.decode(card.body) for card in cards]), evidence=evidence)


def chosen(store: Store, run_id: str, server: str, rubric: str | None) -> list[StoredCard]:
    """The stored receipts of one server, of one rubric when it is named."""
    if rubric is None:
        return store.scorecards(run_id, servers=[server])
    known = named(rubric)
    return store.scorecards(run_id, servers=[server], rubric=known.id, version=known.version)


def named(rubric: str) -> Rubric:
    """The rubric of a name; fails with the names there are."""
    try:
        return catalogue.rubric(rubric)
    except LookupError as error:
        fail(str(error.args[0]), Exit.USAGE)
