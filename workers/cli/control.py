"""`hallmark control`."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from evidence.store.audit import Act
from evidence.store.claim_rows import ClaimState
from publish.people.webhooks import end_uncontrolled
from workers.cli.console import Exit, emit, fail, note, plain, show_rows, table
from workers.cli.decided import By, now, who
from workers.cli.session import find_server, reading

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Look after proofs of control and the webhooks of whoever gave them.\n\n"
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
    with reading() as store:
        only = find_server(store, server).id if server else None
        grid = table("Id", "Server", "Way", "Place", "State", "Last found", "Last look")
        for one in store.claims.read(server=only, ended=everything):
            seen = one.seen_at.isoformat(sep=" ", timespec="minutes") if one.seen_at else ""
            if as_json:
                told = {"id": one.id, "server": one.server, "way": one.way.value, "place": one.place}
                emit(told | {"state": one.state.value, "seen_at": seen or None, "note": one.note})
            else:
                grid.add_row(
                    one.id, one.server, one.way.value, plain(one.place), one.state.value, seen, plain(one.note)
                )
        if not as_json:
            show_rows(grid, "no claim: nobody asked to control a server")


@app.command()
def withdraw(
    claim: Annotated[str, typer.Argument(metavar="ID", help="Id of a claim, which `list` shows.")],
    note_: Annotated[str, typer.Option("--note", help="Why; kept in the audit trail.")] = "",
    by: By = "",
) -> None:
    """End a claim: its token opens nothing any more. Webhooks end too, unless another claim proves control.

    Example: hallmark control withdraw clm_0123456789abcdef --note "the account was stolen"
    """
    act = Act(at=now(), who=who(by), what="claim.withdraw", subject=claim, note=note_)
    with reading() as store:
        known = store.claims.find(claim)
        over = None if known is None else replace(known, state=ClaimState.WITHDRAWN, note="ended by the operator")
        if over is None or not store.claims.settle(over, act):
            fail(f"no claim {claim!r} that is not over. `hallmark control list` shows them", Exit.NOTHING)
        end_uncontrolled(store, act.at, over.server, act.who)
    note(f"{claim} is over")


@app.command()
def webhooks(
    server: Annotated[str | None, typer.Argument(help="Only those of one server.")] = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Also those that have ended.")] = False,
) -> None:
    """List webhooks with the messages that they did not take.

    Example: hallmark control webhooks --all
    """
    with reading() as store:
        only = find_server(store, server).id if server else None
        grid = table("Id", "Server", "Address", ("Failures", "right"), "Last message", "Ended", "Why")
        for one in store.webhooks.read(server=only, ended=everything):
            last = next((f"{each.state}: {each.said}" for each in store.webhooks.deliveries(one.id, 1)), "")
            ended = one.ended_at.isoformat(sep=" ", timespec="minutes") if one.ended_at else ""
            grid.add_row(
                one.id, one.server, plain(one.url), str(one.failures), plain(last), ended, plain(one.why or "")
            )
        show_rows(grid, "no webhook")
