"""`hallmark runs`."""

from __future__ import annotations

import click

from evidence.store import Stage
from workers.cli.display.console import format_moment, make_table, print_data, print_json
from workers.cli.options import json_lines_option, limit_option
from workers.cli.session import open_read_store


@click.command()
@limit_option(20)
@json_lines_option
def runs(limit: int, as_json: bool) -> None:
    """List the runs, newest first.

    Example: hallmark runs --limit 5
    """
    with open_read_store() as store:
        grid = make_table(
            "Run", "As of", "Trigger", "State", ("Planned", "right"), ("Collected", "right"), ("Scored", "right")
        )
        for row in store.list_runs(limit):
            progress = store.read_progress(row.run.id)
            collected, scored = progress.done.get(Stage.COLLECT, 0), progress.done.get(Stage.SCORE, 0)
            if as_json:
                print_json(
                    {
                        "run": row.run.id,
                        "as_of": row.run.as_of.isoformat(),
                        "trigger": row.run.trigger.value,
                        "state": row.state.value,
                        "note": row.note,
                        "planned": progress.planned,
                        "collected": collected,
                        "scored": scored,
                        "pins": dict(row.run.pins),
                    }
                )
                continue
            grid.add_row(
                row.run.id,
                format_moment(row.run.as_of),
                row.run.trigger.value,
                row.state.value,
                str(progress.planned),
                str(collected),
                str(scored),
            )
        if not as_json:
            print_data(grid)
