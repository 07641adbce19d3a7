"""Writes and signs dataset snapshots of published nightly runs, for beat and for the command line."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from evidence.model import Run, ServerId, Trigger
from evidence.store import RunRow, RunState, Store
from publish.datasets.export import ExportOrder, export_archive, export_snapshot
from publish.datasets.rows.export_parts import ExportPlan, PartFolder, plan_export, remove_parts
from publish.datasets.rows.export_workers import BatchSource, RowExporter
from publish.datasets.snapshot import storage
from publish.datasets.snapshot.archive import ARCHIVE
from publish.datasets.snapshot.manifest import Manifest
from publish.datasets.snapshot.minisign import (
    MAX_FILE_BYTES,
    SignatureProblem,
    Signer,
    is_encrypted_key,
    parse_secret_key,
)
from workers import schedule
from workers.concurrency import Halt
from workers.context import Context
from workers.opt_outs import find_opted_out_servers
from workers.publication.snapshot_withdrawal import read_reopened_findings, withdraw_snapshots
from workers.runs.pins import digest_pins
from workers.settings.environment import InvalidSetting, Settings

if TYPE_CHECKING:
    from workers.coordination.broker import TaskLock, TaskQueues

_LOOK_BACK = 50


async def write_current_snapshot(ctx: Context, task_lock: TaskLock, queues: TaskQueues) -> None:
    """Write a snapshot of the newest published nightly run unless it exists, and remove the oldest snapshots.

    Snapshots with a finding that was made private again are removed first. Workers that take tasks from `queues` write
    the parts of a larger run before. One worker does this at a time. It may be killed at any time and repeated: a
    snapshot appears complete or not at all.
    """
    location = ctx.settings.datasets
    row = await asyncio.to_thread(newest_published_run, ctx.store)
    if not location or row is None:
        return
    async with task_lock("datasets") as mine:
        if mine:
            await asyncio.to_thread(_add_snapshot, ctx, row, location, queues)


async def write_parts(ctx: Context, run_id: str, halt: Halt, task_lock: TaskLock, queues: TaskQueues) -> None:
    """Write parts of the dataset of a run until none is free or `halt` is set; then ask for what is left to do.

    A part whose lock is lost is written twice, with the same bytes. Nothing is done for a run that has its snapshot or
    is no longer the newest.
    """
    location = ctx.settings.datasets
    row = await asyncio.to_thread(newest_published_run, ctx.store)
    if (
        not location
        or row is None
        or row.run.id != run_id
        or await asyncio.to_thread(storage.has_snapshot, location, run_id)
    ):
        return
    plan = await asyncio.to_thread(plan_parts, ctx, row.run)
    folder = PartFolder(location, plan)
    for number in await asyncio.to_thread(folder.list_missing):
        if halt.is_set():
            queues.issue(schedule.EXPORT_PARTS, run_id)
            return
        async with task_lock(f"dataset:{run_id}:{plan.name_part(number)}") as mine:
            if mine and await asyncio.to_thread(folder.is_missing, number):
                await asyncio.to_thread(folder.write, ctx.store, number)
                ctx.log.info("dataset_part_written", run=run_id, part=number, parts=plan.parts)
    if not await asyncio.to_thread(folder.list_missing):
        queues.issue(schedule.EXPORT_DATASETS, run_id)


def newest_published_run(store: Store) -> RunRow | None:
    rows = store.list_runs(_LOOK_BACK, triggers=(Trigger.NIGHTLY,))
    published = (row for row in rows if row.state is RunState.PUBLISHED)
    return max(published, key=lambda row: row.run.as_of, default=None)


def write_snapshot(
    settings: Settings,
    store: Store,
    order: ExportOrder,
    place: Path,
    *,
    password: Callable[[], str] | None = None,
    parts: BatchSource | None = None,
) -> Manifest:
    """Write a snapshot without servers that opted out, signed if the settings have a key.

    A place with the suffix of an archive becomes one, others a folder. Rows come from `parts` if they were written.
    """
    key = load_signer(settings.datasets_key, password or settings.datasets_password.reveal)
    signed = replace(order, hidden=find_opted_out_servers(settings, store), signer=None if order.comparable else key)
    export = export_archive if place.suffix == ARCHIVE else export_snapshot
    return export(store, signed, place, parts or RowExporter(settings.store_url, settings.publish_processes))


def load_signer(path: Path | None, password: Callable[[], str]) -> Signer | None:
    """The secret key in a file, None without a file; raise InvalidSetting when it cannot be used."""
    if path is None:
        return None
    try:
        with path.open("rb") as file:
            data = file.read(MAX_FILE_BYTES + 1)
        return parse_secret_key(data, password() if is_encrypted_key(data) else "")
    except OSError as error:
        raise InvalidSetting(f"HALLMARK_DATASETS_KEY: {path} cannot be read: {error.strerror}") from error
    except SignatureProblem as error:
        raise InvalidSetting(f"HALLMARK_DATASETS_KEY: {path}: {error}") from error


def _add_snapshot(ctx: Context, row: RunRow, location: str, queues: TaskQueues) -> None:
    if withdrawn := withdraw_snapshots(ctx.store, location):
        ctx.log.warning("datasets_withdrawn", snapshots=withdrawn)
    run = row.run.id
    if storage.has_snapshot(location, run):
        return
    plan = plan_parts(ctx, row.run)
    parts = PartFolder(location, plan) if plan.parts > 1 else None
    if parts is not None and (missing := parts.list_missing()):
        _share_parts(ctx, run, len(missing), queues)
        return

    def write(folder: Path, earlier: Path | None) -> Manifest:
        order = ExportOrder(run=run, archive=True, earlier=earlier)
        return write_snapshot(ctx.settings, ctx.store, order, folder, parts=parts)

    storage.add_snapshot(location, run, write, ctx.clock.wall())
    if plan_parts(ctx, row.run).key != plan.key:
        storage.remove_snapshot(location, run)
        ctx.log.warning("datasets_withdrawn", snapshots=[run])
        return
    ctx.log.info("dataset_written", run=run)
    remove_parts(location, run)
    if removed := storage.prune_snapshots(location, ctx.settings.datasets_keep):
        ctx.log.info("datasets_removed", snapshots=removed)


def plan_parts(ctx: Context, run: Run) -> ExportPlan:
    """The parts of a run as it may be shown now: an opt-out or a finding made private again changes its own part."""
    hidden = find_opted_out_servers(ctx.settings, ctx.store)
    reopened: dict[ServerId, list[str]] = {}
    for row in sorted(read_reopened_findings(ctx.store, run.as_of), key=lambda row: row.finding.id):
        # A part that was being written while the finding was public for a time is not the one to show now.
        reopened.setdefault(row.finding.server, []).append(f"{row.finding.id} since {row.since.isoformat()}")
    return plan_export(ctx.store, run.id, hidden=hidden, code=digest_pins(ctx.pins), reopened=reopened)


def _share_parts(ctx: Context, run: str, missing: int, queues: TaskQueues) -> None:
    """Ask workers to write the parts that are missing."""
    wanted = min(ctx.settings.shards, missing)
    for _ in range(wanted - queues.waiting(schedule.TASK_QUEUES[schedule.EXPORT_PARTS])):
        queues.issue(schedule.EXPORT_PARTS, run)
