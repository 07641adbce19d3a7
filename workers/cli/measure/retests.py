"""`hallmark retests`."""

from __future__ import annotations

import click

from workers.cli.display.console import clean_text, format_moment, make_table, print_json, print_table
from workers.cli.measure.retest import make_retest_object
from workers.cli.options import json_lines_option, limit_option, only_server_argument
from workers.cli.session import find_server, open_read_store


@click.command()
@only_server_argument
@limit_option(20)
@json_lines_option
def retests(server: str | None, *, limit: int, as_json: bool) -> None:
    """List requests for re-tests with their states, newest first.

    Example: hallmark retests --limit 5
    """
    with open_read_store() as store:
        only = find_server(store, server).id if server else None
        found = store.retests.list_retests(limit, only)
        if as_json:
            for one in found:
                print_json(make_retest_object(one))
            return
        refs = {known.id: known.ref for known in store.find_servers(sorted({one.server for one in found}))}
        grid = make_table("Asked", "Server", "State", ("Seconds", "right"), "Run", "Why")
        for one in found:
            seconds = (one.finished_at - one.asked_at).total_seconds() if one.finished_at else None
            grid.add_row(
                format_moment(one.asked_at),
                clean_text(refs.get(one.server, one.server)),
                one.state.value,
                "" if seconds is None else f"{seconds:.1f}",
                one.run or "",
                clean_text(one.reason or ""),
            )
        print_table(grid, "no re-test was requested. `hallmark retest SERVER` requests one")
