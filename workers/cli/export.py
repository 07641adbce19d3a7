"""`hallmark export`."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from publish import dataset, snapshot
from publish.press import Press
from workers.cli.console import Exit, fail, note
from workers.cli.selection import Rubrics, chosen, named
from workers.cli.session import find_run, reading
from workers.settings import Settings

app = typer.Typer(add_completion=False)


class Format(StrEnum):
    """What is written."""

    JSONL = "jsonl"
    CSV = "csv"


@app.command()
def export(
    *,
    run: Annotated[str, typer.Option(help="Id of a run, the beginning of one, or `latest`.")] = "latest",
    form: Annotated[Format, typer.Option("--format", help="Everything as JSON Lines, or a flat table.")] = Format.JSONL,
    comparable: Annotated[
        bool, typer.Option("--comparable", help="Leave out run id, times and durations: equal runs give equal bytes.")
    ] = False,
    rubric: Rubrics = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="File to write; without it, stdout.")] = None,
    every: Annotated[
        Path | None, typer.Option("--all", metavar="FOLDER", help="Write all files of the dataset, and its manifest.")
    ] = None,
) -> None:
    """Export a run as JSON Lines or CSV, sorted by server id. docs/guide/dataset.md describes both.

    Examples:

    hallmark export -o servers.jsonl

    hallmark export --format csv -o scores.csv

    hallmark export --rubric lint@1 --format csv

    hallmark export --comparable | sha256sum

    hallmark export --all dataset
    """
    with reading() as store:
        row = find_run(store, run)
        if every is not None:
            if rubric or output or comparable:
                fail("--all writes all files whole: leave --rubric, --output and --comparable out", Exit.USAGE)
            press = Press(Settings().store_url, Settings().publish_processes)
            written = snapshot.write(store, row.run.id, every, press.printed)
            note(f"run {row.run.id}: {written} servers in {every}")
            return
        for name in rubric or ():
            named(name)  # before anything is written
        sink = output or sys.stdout.buffer
        written = dataset.export(
            store,
            row.run.id,
            sink,
            format=form.value,
            comparable=comparable,
            keep=lambda cards: chosen(cards, rubric),
        )
        sys.stdout.flush()
        note(f"run {row.run.id}: {written} servers" + (f" in {output}" if output else ""))
