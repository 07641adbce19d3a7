"""`hallmark report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from publish.report import write_report
from workers.cli.console import note, show
from workers.cli.session import find_run, reading

app = typer.Typer(add_completion=False)


@app.command()
def report(
    run: Annotated[str, typer.Argument(help="Id of a run, the beginning of one, or `latest`.")],
    folder: Annotated[Path, typer.Argument(help="Folder to write; an earlier report in it is replaced.")],
) -> None:
    """Write a run as a static HTML report, which needs no server and no JavaScript.

    Example: hallmark report latest ./report
    """
    with reading() as store:
        row = find_run(store, run)
        first = write_report(store, row.run.id, folder)
        note(f"run {row.run.id}")
        show(str(first.absolute()))
