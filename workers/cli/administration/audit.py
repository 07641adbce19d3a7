"""`hallmark audit`."""

from __future__ import annotations

from typing import Annotated

import typer

from evidence.canonical import canonical_json
from workers.cli.display.console import clean_text, make_table, print_json, print_table
from workers.cli.session import open_read_store

app = typer.Typer(add_completion=False)


@app.command()
def audit(
    subject: Annotated[
        str | None, typer.Argument(help="Only decisions about one dispute, token, server or hook.")
    ] = None,
    *,
    limit: Annotated[int, typer.Option(min=1, help="How many, newest first.")] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object per line, for programs.")] = False,
) -> None:
    """List decisions with their actors, newest first. Entries are append-only.

    Example: hallmark audit dsp_0123456789abcdef
    """
    with open_read_store() as store:
        grid = make_table("At", "Who", "Token", "What", "About", "Before", "After", "Note")
        for one in store.audit.read_entries(limit, subject=subject):
            if as_json:
                print_json(
                    {
                        "number": one.number,
                        "at": one.at.isoformat(),
                        "who": one.who,
                        "token": one.token,
                        "what": one.what,
                        "subject": one.subject,
                        "before": dict(one.before),
                        "after": dict(one.after),
                        "note": one.note,
                    }
                )
                continue
            before, after = (
                "" if not each else canonical_json(dict(each)).decode() for each in (one.before, one.after)
            )
            at = one.at.isoformat(sep=" ", timespec="seconds")
            grid.add_row(
                at,
                clean_text(one.who),
                one.token or "",
                one.what,
                clean_text(one.subject),
                clean_text(before),
                clean_text(after),
                clean_text(one.note),
            )
        if not as_json:
            print_table(grid, "no decision is recorded")
