"""`hallmark opt-out`."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from crawler.opting_out import InvalidOptOuts, Scope, entry
from evidence.store import OptOut, OptOutScope, Store
from workers import boards
from workers.cli import decided
from workers.cli.boundary import explained
from workers.cli.console import Exit, emit, fail, note, plain, show_rows, table
from workers.cli.session import reading
from workers.clock import clock_at
from workers.opt_outs import from_file
from workers.settings import Settings

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="Keep the list of domains, hosts and servers that nobody looks at.\n\n"
    "What is on it is not contacted, not started and not scanned from the next task on, within ten minutes. Its "
    "records say `opted_out`, and it has no score.\n\n"
    'Example: hallmark opt-out add example.com --note "asked by mail"',
)

What = Annotated[str, typer.Argument(metavar="ENTRY", help="A domain, `host: NAME` or `server: NAME`.")]
Note = Annotated[str, typer.Option("--note", help="Why, and who asked.")]


@app.command()
def add(entry_: What, note_: Note = "", by: decided.By = "") -> None:
    """Look no more at a domain with everything below it, a host or a server.

    Examples:

    hallmark opt-out add example.com --note "asked by mail"

    hallmark opt-out add "server: io.example/weather" --note "asked in issue 12"
    """
    scope, value = _entry(entry_)
    who, why = decided.who(by), _why(note_)
    with reading(make=True) as store:
        new = OptOut(scope=OptOutScope(scope.value), value=value, at=_now(), who=who, note=why)
        if store.opt_outs.add(new):
            note(f"the {scope} {value} is not looked at any more")
        else:
            note(f"the {scope} {value} is on the list already")
        boards.hide(Settings(), store)


@app.command()
def remove(entry_: What, note_: Note = "", by: decided.By = "") -> None:
    """Look again at what was on the list. The entry stays readable with who ended it and why.

    Example: hallmark opt-out remove example.com --note "they agreed"
    """
    scope, value = _entry(entry_)
    who, why = decided.who(by), _why(note_)
    with reading() as store:
        if not store.opt_outs.revoke(OptOutScope(scope.value), value, at=_now(), who=who, note=why):
            fail(f"the {scope} {value} is not on the list. `hallmark opt-out list` shows it", Exit.NOTHING)
        boards.hide(Settings(), store)
        note(f"the {scope} {value} is looked at again, unless the file of the settings names it")


@app.command("list")
def list_(
    everything: Annotated[bool, typer.Option("--all", help="Also entries that were ended.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line, for programs.")] = False,
) -> None:
    """List the entries in force, with who made them.

    Example: hallmark opt-out list --all
    """
    with reading() as store:
        _show(store, everything=everything, as_json=as_json)
        settings = Settings()
        if settings.opt_outs is not None:
            note(f"{len(from_file(settings))} more entries are in {settings.opt_outs}")


def _show(store: Store, *, everything: bool, as_json: bool) -> None:
    grid = table("Scope", "Value", "Since", "By", "Ended", "Why")
    for one in store.opt_outs.read(revoked=everything):
        if as_json:
            emit(
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
        grid.add_row(one.scope.value, plain(one.value), since, plain(one.who), ended, plain(one.note, limit=500))
    if not as_json:
        show_rows(grid, "no entry. `hallmark opt-out add` makes one")


def _entry(said: str) -> tuple[Scope, str]:
    try:
        return entry(said)
    except InvalidOptOuts as error:
        fail(str(error), Exit.USAGE)


def _why(said: str) -> str:
    if not said.strip():
        fail("expected --note with why, and who asked", Exit.USAGE)
    return said.strip()


def _now() -> datetime:
    with explained():
        return clock_at(Settings().clock).wall()
