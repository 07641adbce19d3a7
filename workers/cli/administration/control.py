"""`hallmark control`."""

from __future__ import annotations

import click
from msgspec.structs import replace

from evidence.store.community.claim_values import ClaimState
from evidence.store.decisions.audit_trail import AuditEntry
from publish.community.webhooks import end_uncontrolled_webhooks
from workers.cli.display.console import (
    ExitCode,
    clean_text,
    exit_with_error,
    format_moment,
    make_table,
    print_json,
    print_note,
    print_table,
)
from workers.cli.operator import by_option, find_decider, read_clock
from workers.cli.options import CommandGroup, json_lines_option, only_server_argument
from workers.cli.session import find_server, open_read_store

app = CommandGroup(
    help="Manage claims of control, and the webhooks of owners.\n\n"
    "Workers check proofs and send messages every minute; without workers `hallmark attend` does.\n\n"
    "Example: hallmark control list",
)


@app.command("list")
@only_server_argument
@click.option("--all", "everything", is_flag=True, help="Also those that have ended.")
@json_lines_option
def list_(server: str | None, *, everything: bool, as_json: bool) -> None:
    """List claims to control servers, newest first.

    Example: hallmark control list --all
    """
    with open_read_store() as store:
        only = find_server(store, server).id if server else None
        grid = make_table("Id", "Server", "Method", "Place", "State", "Last proven", "Last check")
        for one in store.claims.list_claims(server=only, ended=everything):
            seen = format_moment(one.seen_at, "minutes")
            if as_json:
                row = {"id": one.id, "server": one.server, "way": one.way.value, "place": one.place}
                print_json(row | {"state": one.state.value, "seen_at": seen or None, "note": one.note})
            else:
                place, note = clean_text(one.place), clean_text(one.note)
                grid.add_row(one.id, one.server, one.way.value, place, one.state.value, seen, note)
        if not as_json:
            print_table(grid, "no claims")


@app.command()
@click.argument("claim", metavar="ID", help="Id of a claim, which `list` shows.")
@click.option("--note", "note_", default="", show_default=False, help="The reason, which is kept in the audit trail.")
@by_option
def withdraw(claim: str, note_: str, by: str) -> None:
    """End a claim: its token loses its rights. Webhooks end too, unless another claim proves control.

    Example: hallmark control withdraw clm_0123456789abcdef --note "the account was stolen"
    """
    entry = AuditEntry(at=read_clock(), who=find_decider(by), what="claim.withdraw", subject=claim, note=note_)
    with open_read_store() as store:
        known = store.claims.find_claim(claim)
        ended = None if known is None else replace(known, state=ClaimState.WITHDRAWN, note="ended by the operator")
        if ended is None or not store.claims.record_check(ended, entry):
            exit_with_error(f"no open claim {claim!r}. `hallmark control list` shows open claims", ExitCode.NOTHING)
        end_uncontrolled_webhooks(store, entry.at, ended.server, entry.who)
    print_note(f"{claim} is withdrawn")


@app.command()
@only_server_argument
@click.option("--all", "everything", is_flag=True, help="Also those that have ended.")
def webhooks(server: str | None, *, everything: bool) -> None:
    """List webhooks with their last message and the number of failures.

    Example: hallmark control webhooks --all
    """
    with open_read_store() as store:
        only = find_server(store, server).id if server else None
        grid = make_table("Id", "Server", "Address", ("Failures", "right"), "Last message", "Ended", "Why")
        for one in store.webhooks.list_webhooks(server=only, ended=everything):
            last = next((f"{each.state}: {each.said}" for each in store.webhooks.list_deliveries(one.id, 1)), "")
            ended = format_moment(one.ended_at, "minutes")
            url, why = clean_text(one.url), clean_text(one.why or "")
            grid.add_row(one.id, one.server, url, str(one.failures), clean_text(last), ended, why)
        print_table(grid, "no webhook")
