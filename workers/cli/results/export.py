"""`hallmark export`."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path

import click
from msgspec.structs import replace

from publish.datasets.export import ExportOrder, FolderNotEmpty
from publish.datasets.snapshot.manifest import NotASnapshot
from publish.datasets.snapshot.reader import UnreadableFile
from publish.publication import manifest, run_export
from publish.publication.export_workers import RunExporter
from workers.cli.administration.signing_key import read_password
from workers.cli.display.console import ExitCode, exit_with_error, print_note
from workers.cli.display.progress_counter import show_progress
from workers.cli.options import ANY_PATH, rubric_option, run_option
from workers.cli.rubric_selection import find_rubric, select_receipts
from workers.cli.session import LATEST, find_run, open_read_store
from workers.publication import dataset_snapshots
from workers.settings.environment import read_settings

_RUN = "Write this run as a snapshot: id of a run, the beginning of one, or `latest`."
_DIR = "Folder of the snapshot, which is created; an existing snapshot is replaced. NAME.zip: one archive."


class Format(StrEnum):
    """The format of the output."""

    JSONL = "jsonl"
    CSV = "csv"


@click.command()
@click.argument("snapshot_of", metavar="[RUN]", required=False, help=_RUN)
@click.argument("folder", metavar="[DIR]", required=False, type=ANY_PATH, help=_DIR)
@run_option
@click.option(
    "--format",
    "form",
    type=click.Choice(Format, case_sensitive=False),
    default=Format.JSONL.value,
    help="Everything as JSON Lines, or a flat table.",
)
@click.option("--comparable", is_flag=True, help="Leave out run id, times and durations: equal runs give equal bytes.")
@rubric_option
@click.option("-o", "--output", type=ANY_PATH, help="File to write. Default: stdout.")
@click.option(
    "--all",
    "every",
    metavar="FOLDER",
    type=ANY_PATH,
    help="Write all files of the dataset and its manifest to this folder.",
)
@click.option("--since", metavar="SNAPSHOT", type=ANY_PATH, help="With DIR: the previous snapshot, for CHANGELOG.md.")
@click.option(
    "--key", metavar="FILE", type=ANY_PATH, help="With DIR: sign with this key instead of HALLMARK_DATASETS_KEY."
)
def export(
    snapshot_of: str | None,
    folder: Path | None,
    *,
    run: str,
    form: Format,
    comparable: bool,
    rubric: tuple[str, ...],
    output: Path | None,
    every: Path | None,
    since: Path | None,
    key: Path | None,
) -> None:
    """Export a run as a snapshot in a folder or archive, or as JSON Lines or CSV (docs/guide/dataset.md).

    A snapshot has tables in Parquet, CSV and JSON Lines with all public evidence; `hallmark verify` checks it.

    Examples:

    hallmark export latest ./snapshot

    hallmark export latest dataset.zip

    hallmark export latest ./today --since ./yesterday

    hallmark export -o servers.jsonl

    hallmark export --format csv -o scores.csv

    hallmark export --rubric lint@1 --format csv

    hallmark export --comparable | sha256sum

    hallmark export --all dataset
    """
    if snapshot_of is not None:
        if folder is None or rubric or output or every or run != LATEST or form is not Format.JSONL:
            exit_with_error("a snapshot takes only RUN, DIR, --comparable, --since and --key", ExitCode.USAGE)
        _snapshot(snapshot_of, folder, comparable=comparable, since=since, key=key)
        return
    if since or key:
        exit_with_error("--since and --key are for snapshots: name RUN and DIR", ExitCode.USAGE)
    with open_read_store() as store:
        row = find_run(store, run)
        if every is not None:
            if rubric or output or comparable:
                exit_with_error("--all writes complete files: omit --rubric, --output and --comparable", ExitCode.USAGE)
            exporter = RunExporter(read_settings().store_url, read_settings().publish_processes)
            written = manifest.write_run_files(store, row.run.id, every, exporter.export)
            print_note(f"run {row.run.id}, servers written to {every}: {written}")
            return
        for name in rubric:
            find_rubric(name)  # before anything is written
        sink = output or sys.stdout.buffer
        written = run_export.export_run(
            store,
            row.run.id,
            sink,
            format=form.value,
            comparable=comparable,
            keep=lambda cards: select_receipts(cards, rubric),
        )
        sys.stdout.flush()
        print_note(f"run {row.run.id}: {written} servers" + (f" in {output}" if output else ""))


def _snapshot(run: str, folder: Path, *, comparable: bool, since: Path | None, key: Path | None) -> None:
    with open_read_store() as store:
        settings = read_settings()
        row = find_run(store, run)
        if key is not None:
            settings = replace(settings, datasets_key=key)
        planned = len(store.list_planned_servers(row.run.id))
        try:
            with show_progress(f"run {row.run.id}", planned) as advance:
                order = ExportOrder(run=row.run.id, comparable=comparable, earlier=since, on_progress=advance)
                made = dataset_snapshots.write_snapshot(
                    settings, store, order, folder, password=lambda: read_password(settings)
                )
        except (FolderNotEmpty, NotASnapshot, UnreadableFile) as error:
            exit_with_error(str(error), ExitCode.USAGE)
        print_note(f"run {row.run.id}, servers written to {folder}: {made.counts['servers']}")
