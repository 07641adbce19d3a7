"""`hallmark show`."""

from __future__ import annotations

from typing import Annotated

import typer

from publish.dataset import describe
from scoring import receipt
from workers.cli.console import Exit, emit, fail, note
from workers.cli.page import show_server
from workers.cli.receipts import newest_only
from workers.cli.selection import Rubrics, chosen
from workers.cli.session import LATEST, find_run, find_server, reading
from workers.retesting import newest_run

app = typer.Typer(add_completion=False)


@app.command()
def show(
    *,
    server: Annotated[str, typer.Argument(help="Id, reference or name of a server, or a part that only fits one.")],
    rubric: Rubrics = None,
    run: Annotated[str, typer.Option(help="Id of a run, the beginning of one, or `latest`.")] = "latest",
    evidence: Annotated[bool, typer.Option("--evidence", help="Also show what was observed.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, for programs.")] = False,
) -> None:
    """Show one server's receipts, line by line: what gave and cost points, where, and why.

    Examples:

    hallmark show npm:@modelcontextprotocol/server-everything

    hallmark show time --rubric lint@1 --rubric adaptive --evidence
    """
    with reading() as store:
        run_id = find_run(store, run).run.id
        found = find_server(store, server)
        if run == LATEST:
            run_id = newest_run(store, found.id, run_id)
        if found.id not in store.planned(run_id):
            fail(
                f"{found.ref} is not part of run {run_id}. `hallmark runs` lists others; choose with --run",
                Exit.NOTHING,
            )
        dossier = store.dossiers(run_id, [found.id])[0]
        cards = chosen(store.scorecards(run_id, servers=[found.id]), rubric)
        thinned = None if dossier.records else store.compacting.thinned(run_id)
        if as_json:
            given_up = {"evidence_given_up": thinned.at.isoformat()} if thinned else {}
            emit({"run": run_id, **given_up, **describe(dossier, cards)})
            return
        if thinned:
            note(f"the records of this night were given up on {thinned.at:%Y-%m-%d}; receipts and digests stay")
        receipts = [receipt.decode(card.body) for card in cards]
        known = store.findings(servers=[found.id])
        show_server(dossier, receipts if rubric else newest_only(receipts), evidence=evidence, findings=known)
