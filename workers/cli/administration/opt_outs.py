"""`hallmark opt-out`."""

from __future__ import annotations

import click

from crawler.opt_outs import InvalidOptOuts, parse_entry
from crawler.opt_outs import OptOutScope as Scope
from evidence.store import OptOut, OptOutScope, Store
from workers.cli import operator
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
from workers.cli.options import CommandGroup, json_lines_option
from workers.cli.session import open_read_store
from workers.opt_outs import load_opt_out_file
from workers.publication import listing_index
from workers.settings.environment import read_settings

app = CommandGroup(
    help="Manage opt-outs: domains, hosts and servers that are never contacted.\n\n"
    "A server that has opted out is not contacted, started or scanned any more, within ten minutes. Its records say "
    "`opted_out`, and it has no score.\n\n"
    'Example: hallmark opt-out add example.com --note "asked by mail"',
)

_entry_argument = click.argument("entry_", metavar="ENTRY", help="A domain, `host: NAME` or `server: NAME`.")
_note_option = click.option("--note", "note_", default="", show_default=False, help="The reason, and who asked.")


@app.command()
@_entry_argument
@_note_option
@operator.by_option
def add(entry_: str, note_: str, by: str) -> None:
    """Never contact a domain with its subdomains, a host or a server again.

    Examples:

    hallmark opt-out add example.com --note "asked by mail"

    hallmark opt-out add "server: io.example/weather" --note "asked in issue 12"
    """
    scope, value = _parse_entry(entry_)
    who, why = operator.find_decider(by), _require_note(note_)
    with open_read_store(make=True) as store:
        entry = OptOut(scope=OptOutScope(scope.value), value=value, at=operator.read_clock(), who=who, note=why)
        if store.opt_outs.add_opt_out(entry):
            print_note(f"the {scope} {value} is not contacted any more")
        else:
            print_note(f"the {scope} {value} is on the list already")
        listing_index.hide_opted_out(read_settings(), store)


@app.command()
@_entry_argument
@_note_option
@operator.by_option
def remove(entry_: str, note_: str, by: str) -> None:
    """End an opt-out, so that its servers are contacted again. The entry stays in the list with the reason.

    Example: hallmark opt-out remove example.com --note "they agreed"
    """
    scope, value = _parse_entry(entry_)
    who, why = operator.find_decider(by), _require_note(note_)
    with open_read_store() as store:
        at = operator.read_clock()
        if not store.opt_outs.revoke_opt_out(OptOutScope(scope.value), value, at=at, who=who, note=why):
            exit_with_error(
                f"the {scope} {value} is not on the list. `hallmark opt-out list` shows it", ExitCode.NOTHING
            )
        listing_index.hide_opted_out(read_settings(), store)
        print_note(f"the {scope} {value} is contacted again, unless the settings' file names it")


@app.command("list")
@click.option("--all", "everything", is_flag=True, help="Also entries that were ended.")
@json_lines_option
def list_(everything: bool, as_json: bool) -> None:
    """List the opt-outs in force, and who added them.

    Example: hallmark opt-out list --all
    """
    with open_read_store() as store:
        _show(store, everything=everything, as_json=as_json)
        settings = read_settings()
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
        ended = format_moment(one.revoked_at)
        since = format_moment(one.at)
        grid.add_row(
            one.scope.value, clean_text(one.value), since, clean_text(one.who), ended, clean_text(one.note, limit=500)
        )
    if not as_json:
        print_table(grid, "no opt-out. `hallmark opt-out add` adds one")


def _parse_entry(text: str) -> tuple[Scope, str]:
    try:
        return parse_entry(text)
    except InvalidOptOuts as error:
        exit_with_error(str(error), ExitCode.USAGE)


def _require_note(note: str) -> str:
    if not note.strip():
        exit_with_error("expected --note with the reason, and who asked", ExitCode.USAGE)
    return note.strip()
