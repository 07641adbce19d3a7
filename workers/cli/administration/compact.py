"""`hallmark compact`."""

from __future__ import annotations

from datetime import timedelta

import click

from workers.cli.display.console import ExitCode, open_stderr, print_json, print_note
from workers.cli.options import json_document_option
from workers.cli.session import open_read_store
from workers.clock import clock_at
from workers.retention import GRACE_PERIOD, RETENTION, CompactionResult, compact_runs
from workers.settings.environment import read_settings


@click.command()
@click.option(
    "--days",
    type=click.IntRange(min=GRACE_PERIOD.days),
    help="Keep all evidence of the last N days, instead of HALLMARK_KEEP_WHOLE.",
)
@click.option("--dry-run", is_flag=True, help="Only print what would be deleted.")
@json_document_option
def compact(days: int | None, dry_run: bool, as_json: bool) -> None:
    """Delete old evidence, except one complete run a week; receipts remain.

    The newest records of every server, and all records of servers with a private finding, remain too. A score can still
    be recomputed from the lines of its receipt. The command may run beside workers, and may be interrupted and
    repeated.

    Examples:

    hallmark compact --dry-run

    hallmark compact --days 30 --json

    Exit codes: 0 done, 1 Hallmark failed, 2 wrong usage, 3 no run yet.
    """
    with open_read_store() as store:
        settings = read_settings()
        with open_stderr().status("searching old runs") as status:
            done = compact_runs(
                store,
                clock_at(settings.clock),
                settings.keep_whole or RETENTION if days is None else timedelta(days=days),
                dry=dry_run,
                progress=lambda run, servers: status.update(f"{run}: {servers} servers"),
            )
        if as_json:
            print_json(_as_json(done))
        else:
            print_note(_in_words(done))
        raise click.exceptions.Exit(ExitCode.OK)


def _in_words(done: CompactionResult) -> str:
    dropped = f"{sum(done.record_sets.values())} servers in {len(done.record_sets)} runs before {done.before:%Y-%m-%d}"
    if done.dry:
        return f"would delete the records of {dropped}"
    swept = done.swept
    bodies = f"{swept.given_up + swept.deleted} unused bodies of {swept.freed / 1e6:.1f} MB"
    return f"deleted the records of {dropped}, and {bodies}"


def _as_json(done: CompactionResult) -> dict[str, object]:
    found: dict[str, object] = {"dry_run": done.dry, "before": done.before.isoformat(), "record_sets": done.record_sets}
    if done.dry:
        return found
    swept = done.swept
    return found | {"bodies": {"given_up": swept.given_up, "deleted": swept.deleted, "bytes": swept.freed}}
