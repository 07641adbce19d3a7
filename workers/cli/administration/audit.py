"""`hallmark audit`."""

from __future__ import annotations

import click

from evidence.canonical import canonical_json
from workers.cli.display.console import clean_text, format_moment, make_table, print_json, print_table
from workers.cli.options import json_lines_option, limit_option
from workers.cli.session import open_read_store


@click.command()
@click.argument("subject", required=False, help="Only decisions about one dispute, token, server or hook.")
@limit_option(50)
@json_lines_option
def audit(subject: str | None, *, limit: int, as_json: bool) -> None:
    """List the decisions of operators and owners, newest first. Entries are never changed or deleted.

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
            states = (canonical_json(dict(each)).decode() if each else "" for each in (one.before, one.after))
            who, about = clean_text(one.who), clean_text(one.subject)
            before, after = map(clean_text, states)
            note = clean_text(one.note)
            grid.add_row(format_moment(one.at), who, one.token or "", one.what, about, before, after, note)
        if not as_json:
            print_table(grid, "no decision is recorded")
