"""`hallmark control`."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from evidence.store.community.claim_values import ClaimState
from evidence.store.decisions.audit_trail import AuditEntry
from publish.community.webhooks import end_uncontrolled_webhooks
from workers.cli.display.console import (
    ExitCode,
    clean_text,
    exit_with_error,
    make_table,
    print_json,
    print_note,
    print_table,
)
from workers.cli.operator import By, find_decider, read_clock
from workers.cli.session import find_server, open_read_store

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Manage claims of control, and the webhooks of owners.\n\n"
    "With workers, proofs are looked for and messages sent every minute; without them by `hallmark attend`.\n\n"
    "Example: hallmark control list",
)


@app.command("list")
def list_(
    server: Annotated[str | None, typer.Argument(help="Only those of one server.")] = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Also those that are over.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line, for programs.")] = False,
) -> None:
    """List claims to control servers, newest first.

    Example: hallmark control list --all
    """
    with open_read_store() as store:
        only = find_server(store, server).id if server else None
        grid = make_table("Id", "Server", "Way", "Place", "State", "Last found", "Last look")
        for one in store.claims.list_claims(server=only, ended=everything):
            seen = one.seen_at.isoformat(sep=" ", timespec="minutes") if one.seen_at else ""
            if as_json:
                told = {"id": one.id, "server": one.server, "way": one.way.value, "place": one.place}
                print_json(told | {"state": one.state.value, "seen_at": seen or None, "note": one.note})
            else:
                grid.add_row(
                    one.id,
                    one.server,
                    one.way.value,
                    clean_text(one.place),
                    one.state.value,
                    seen,
                    clean_text(one.note),
                )
        if not as_json:
            print_table(grid, "no claims")


@app.command()
def withdraw(
    claim: Annotated[str, typer.Argument(metavar="ID", help="Id of a claim, which `list` shows.")],
    note_: Annotated[str, typer.Option("--note", help="Why; kept in the audit trail.")] = "",
    by: By = "",
) -> None:
    """End a claim: its token opens nothing any more. Webhooks end too, unless another claim proves control.

    Example: hallmark control withdraw clm_0123456789abcdef --note "the account was stolen"
    """
    act = AuditEntry(at=read_clock(), who=find_decider(by), what="claim.withdraw", subject=claim, note=note_)
    with open_read_store() as store:
        known = store.claims.find_claim(claim)
        over = None if known is None else replace(known, state=ClaimState.WITHDRAWN, note="ended by the operator")
        if over is None or not store.claims.record_check(over, act):
            exit_with_error(
                f"no claim {claim!r} that is not over. `hallmark control list` shows them", ExitCode.NOTHING
            )
        end_uncontrolled_webhooks(store, act.at, over.server, act.who)
    print_note(f"{claim} is over")


@app.command()
def webhooks(
    server: Annotated[str | None, typer.Argument(help="Only those of one server.")] = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Also those that have ended.")] = False,
) -> None:
    """List webhooks with the messages that they did not take.

    Example: hallmark control webhooks --all
    """
    with open_read_store() as store:
        only = find_server(store, server).id if server else None
        grid = make_table("Id", "Server", "Address", ("Failures", "right"), "Last message", "Ended", "Why")
        for one in store.webhooks.list_webhooks(server=only, ended=everything):
            last = next((f"{each.state}: {each.said}" for each in store.webhooks.list_deliveries(one.id, 1)), "")
            ended = one.ended_at.isoformat(sep=" ", timespec="minutes") if one.ended_at else ""
            grid.add_row(
                one.id,
                one.server,
                clean_text(one.url),
                str(one.failures),
                clean_text(last),
                ended,
                clean_text(one.why or ""),
            )
        print_table(grid, "no webhook")
