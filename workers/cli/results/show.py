"""`hallmark show`."""

from __future__ import annotations

import click

from publish.publication.run_export import server_as_json
from scoring import receipt
from workers.cli.display.console import ExitCode, exit_with_error, print_json, print_note
from workers.cli.display.receipts import select_newest
from workers.cli.display.server_page import show_server
from workers.cli.options import json_document_option, rubric_option, run_option
from workers.cli.rubric_selection import select_receipts
from workers.cli.session import LATEST, find_run, find_server, open_read_store
from workers.retests.retest_requests import find_newest_run


@click.command()
@click.argument("server", help="Id, reference or name of a server, or a part that matches only one.")
@rubric_option
@run_option
@click.option("--evidence", is_flag=True, help="Also show what was observed.")
@click.option("--details", is_flag=True, help="Every line instead of one row for each rule.")
@json_document_option
def show(*, server: str, rubric: tuple[str, ...], run: str, evidence: bool, details: bool, as_json: bool) -> None:
    """Show the receipts of one server: what gained and cost points, where, and why.

    Examples:

    hallmark show npm:@modelcontextprotocol/server-everything

    hallmark show time --rubric lint@1 --rubric adaptive --details --evidence
    """
    with open_read_store() as store:
        run_id = find_run(store, run).run.id
        found = find_server(store, server)
        if run == LATEST:
            run_id = find_newest_run(store, found.id, run_id)
        if found.id not in store.list_planned_servers(run_id):
            exit_with_error(
                f"{found.ref} is not part of run {run_id}. `hallmark runs` lists others; choose with --run",
                ExitCode.NOTHING,
            )
        dossier = store.read_dossiers(run_id, [found.id])[0]
        cards = select_receipts(store.read_scorecards(run_id, servers=[found.id]), rubric)
        dropped = None if dossier.records else store.compaction.find_dropped_records(run_id)
        if as_json:
            moment = {"evidence_given_up": dropped.at.isoformat()} if dropped else {}
            print_json({"run": run_id, **moment, **server_as_json(dossier, cards)})
            return
        if dropped:
            print_note(f"the records of this run were deleted on {dropped.at:%Y-%m-%d}; receipts and digests remain")
        receipts = [receipt.decode_scorecard(card.body) for card in cards]
        known = store.read_findings(servers=[found.id])
        shown = receipts if rubric else select_newest(receipts)
        show_server(dossier, shown, evidence=evidence, findings=known, details=details)
