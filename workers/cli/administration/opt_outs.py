"""`hallmark opt-out`."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from crawler.opt_outs import InvalidOptOuts, parse_entry
from crawler.opt_outs import OptOutScope as Scope
from evidence.store import OptOut, OptOutScope, Store
from workers.cli import operator
from workers.cli.display.console import (
    ExitCode,
    clean_text,
    exit_with_error,
    make_table,
    print_json,
    print_note,
    print_table,
)
from workers.cli.error_boundary import explain_failures
from workers.cli.session import open_read_store
from workers.clock import clock_at
from workers.opt_outs import load_opt_out_file
from workers.publication import listing_index
from workers.settings.environment import Settings

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Manage opt-outs: domains, hosts and servers that are never contacted.\n\n"
    "What is on it is not contacted, not started and not scanned from the next task on, within ten minutes. Its "
    "records say `opted_out`, and it has no score.\n\n"
    'Example: hallmark opt-out add example.com --note "asked by mail"',
)

What = Annotated[str, typer.Argument(metavar="ENTRY", help="A domain, `host: NAME` or `server: NAME`.")]
Note = Annotated[str, typer.Option("--note", help="Why, and who asked.")]


@app.command()
def add(entry_: What, note_: Note = "", by: operator.By = "") -> None:
    """Look no more at a domain with everything below it, a host or a server.

    Examples:

    hallmark opt-out add example.com --note "asked by mail"

    hallmark opt-out add "server: io.example/weather" --note "asked in issue 12"
    """
    scope, value = _entry(entry_)
    who, why = operator.find_decider(by), _why(note_)
    with open_read_store(make=True) as store:
        new = OptOut(scope=OptOutScope(scope.value), value=value, at=_now(), who=who, note=why)
        if store.opt_outs.add_opt_out(new):
            print_note(f"the {scope} {value} is not looked at any more")
        else:
            print_note(f"the {scope} {value} is on the list already")
        listing_index.hide_opted_out(Settings(), store)


@app.command()
def remove(entry_: What, note_: Note = "", by: operator.By = "") -> None:
    """Look again at what was on the list. The entry stays readable with who ended it and why.

    Example: hallmark opt-out remove example.com --note "they agreed"
    """
    scope, value = _entry(entry_)
    who, why = operator.find_decider(by), _why(note_)
    with open_read_store() as store:
        if not store.opt_outs.revoke_opt_out(OptOutScope(scope.value), value, at=_now(), who=who, note=why):
            exit_with_error(
                f"the {scope} {value} is not on the list. `hallmark opt-out list` shows it", ExitCode.NOTHING
            )
        listing_index.hide_opted_out(Settings(), store)
        print_note(f"the {scope} {value} is looked at again, unless the file of the settings names it")


@app.command("list")
def list_(
    everything: Annotated[bool, typer.Option("--all", help="Also entries that were ended.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line, for programs.")] = False,
) -> None:
    """List the entries in force, with who made them.

    Example: hallmark opt-out list --all
    """
    with open_read_store() as store:
        _show(store, everything=everything, as_json=as_json)
        settings = Settings()
        if settings.opt_outs is not None:
            print_note(f"{len(load_opt_out_file(settings))} more entries are in {settings.opt_outs}")


def _show(store: Store, *, everything: bool, as_json: bool) -> None:
    grid = make_table("Scope", "Value", "Since", "By", "Ended", "Why")
    for one in store.opt_outs.read_opt_outs(revoked=everything):
        if as_json:
            print_json(
                {
                    "scope": one.scope.value,
                    "value": one.value,
                    "at": one.at.isoformat(),
                    "who": one.who,
                    "note": one.note,
                    "revoked_at": one.revoked_at.isoformat() if one.revoked_at else None,
                }
            )
            continue
        ended = one.revoked_at.isoformat(sep=" ", timespec="seconds") if one.revoked_at else ""
        since = one.at.isoformat(sep=" ", timespec="seconds")
        grid.add_row(
            one.scope.value, clean_text(one.value), since, clean_text(one.who), ended, clean_text(one.note, limit=500)
        )
    if not as_json:
        print_table(grid, "no entry. `hallmark opt-out add` makes one")


def _entry(said: str) -> tuple[Scope, str]:
    try:
        return parse_entry(said)
    except InvalidOptOuts as error:
        exit_with_error(str(error), ExitCode.USAGE)


def _why(said: str) -> str:
    if not said.strip():
        exit_with_error("expected --note with why, and who asked", ExitCode.USAGE)
    return said.strip()


def _now() -> datetime:
    with explain_failures():
        return clock_at(Settings().clock).wall()
