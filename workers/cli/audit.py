"""`hallmark audit`."""

from __future__ import annotations

from typing import Annotated

import typer

from evidence.canonical import canonical_json
from workers.cli.console import emit, plain, show_rows, table
from workers.cli.session import reading

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
    """List who decided what, newest first: with a token over the API, or at the command line. Nothing is ever altered.

    Example: hallmark audit dsp_0123456789abcdef
    """
    with reading() as store:
        grid = table("At", "Who", "Token", "What", "About", "Before", "After", "Note")
        for one in store.audit.read(limit, subject=subject):
            if as_json:
                emit(
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
                plain(one.who),
                one.token or "",
                one.what,
                plain(one.subject),
                plain(before),
                plain(after),
                plain(one.note),
            )
        if not as_json:
            show_rows(grid, "no decision is recorded")
