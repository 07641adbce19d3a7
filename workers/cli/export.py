"""`hallmark export`."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from publish import dataset, snapshot
from publish.datasets.export import NotEmpty, Order
from publish.datasets.manifest import NotASnapshot
from publish.datasets.reading import Unreadable
from publish.press import Press
from workers import datasets
from workers.cli.console import Exit, fail, note
from workers.cli.counting import progress
from workers.cli.key import password_of
from workers.cli.selection import Rubrics, chosen, named
from workers.cli.session import LATEST, find_run, reading
from workers.settings import Settings

app = typer.Typer(add_completion=False)

_RUN = "Id of a run, the beginning of one, or `latest`: write it as a snapshot."
_DIR = "Folder of the snapshot, which is made; one that holds a snapshot is replaced."


class Format(StrEnum):
    """What is written."""

    JSONL = "jsonl"
    CSV = "csv"


@app.command()
def export(
    snapshot_of: Annotated[str | None, typer.Argument(metavar="[RUN]", show_default=False, help=_RUN)] = None,
    folder: Annotated[Path | None, typer.Argument(metavar="[DIR]", show_default=False, help=_DIR)] = None,
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
    since: Annotated[
        Path | None, typer.Option(metavar="SNAPSHOT", help="With DIR: the snapshot before it, for CHANGELOG.md.")
    ] = None,
    key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With DIR: sign it with this key, not HALLMARK_DATASETS_KEY.")
    ] = None,
) -> None:
    """Export a run: as a snapshot in a folder, or as JSON Lines or CSV. docs/guide/dataset.md describes all of them.

    A snapshot has tables in Parquet, CSV and JSON Lines with all public evidence, and `hallmark verify` checks it.

    Examples:

    hallmark export latest ./snapshot

    hallmark export latest ./today --since ./yesterday

    hallmark export -o servers.jsonl

    hallmark export --format csv -o scores.csv

    hallmark export --rubric lint@1 --format csv

    hallmark export --comparable | sha256sum

    hallmark export --all dataset
    """
    if snapshot_of is not None:
        if folder is None or rubric or output or every or run != LATEST or form is not Format.JSONL:
            fail("a snapshot takes RUN, DIR, --comparable, --since and --key, and nothing else", Exit.USAGE)
        _snapshot(snapshot_of, folder, comparable=comparable, since=since, key=key)
        return
    if since or key:
        fail("--since and --key are of a snapshot: name RUN and DIR", Exit.USAGE)
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


def _snapshot(run: str, folder: Path, *, comparable: bool, since: Path | None, key: Path | None) -> None:
    with reading() as store:
        settings = Settings()
        row = find_run(store, run)
        if key is not None:
            settings = settings.model_copy(update={"datasets_key": key})
        planned = len(store.planned(row.run.id))
        try:
            with progress(f"run {row.run.id}", planned) as told:
                order = Order(run=row.run.id, comparable=comparable, earlier=since, told=told)
                made = datasets.write(settings, store, order, folder, password=lambda: password_of(settings))
        except (NotEmpty, NotASnapshot, Unreadable) as error:
            fail(str(error), Exit.USAGE)
        note(f"run {row.run.id}: {made.counts['servers']} servers in {folder}")
