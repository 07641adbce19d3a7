"""Writes and signs dataset snapshots of published nightly runs, for beat and for the command line."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from evidence.model import ServerId, Trigger
from evidence.store import RunRow, RunState, Store
from publish.datasets.export import ExportOrder, export_archive, export_snapshot
from publish.datasets.rows.export_workers import RowExporter
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
from workers.context import Context
from workers.opt_outs import load_opt_outs
from workers.publication.snapshot_withdrawal import withdraw_snapshots
from workers.settings.environment import InvalidSetting, Settings

if TYPE_CHECKING:
    from workers.coordination.broker import TaskLock

_LOOK_BACK = 50
_READ = 5_000


async def write_current_snapshot(ctx: Context, task_lock: TaskLock) -> None:
    """Write a snapshot of the newest published nightly run unless it exists, and remove the oldest snapshots.

    Snapshots with a finding that was made private again are removed first. One worker does this at a time. It may be
    killed at any time and repeated: a snapshot appears complete or not at all.
    """
    location = ctx.settings.datasets
    row = await asyncio.to_thread(newest_published_run, ctx.store)
    if not location or row is None:
        return
    async with task_lock("datasets") as mine:
        if mine:
            await asyncio.to_thread(_add_snapshot, ctx, row, location)


def newest_published_run(store: Store) -> RunRow | None:
    rows = store.list_runs(_LOOK_BACK, triggers=(Trigger.NIGHTLY,))
    published = (row for row in rows if row.state is RunState.PUBLISHED)
    return max(published, key=lambda row: row.run.as_of, default=None)


def write_snapshot(
    settings: Settings, store: Store, order: ExportOrder, place: Path, *, password: Callable[[], str] | None = None
) -> Manifest:
    """Write a snapshot without servers that opted out, signed if the settings have a key.

    A place with the suffix of an archive becomes one, others a folder.
    """
    key = load_signer(settings.datasets_key, password or settings.datasets_password.reveal)
    signed = replace(
        order, hidden=find_opted_out_servers(settings, store, order.run), signer=None if order.comparable else key
    )
    export = export_archive if place.suffix == ARCHIVE else export_snapshot
    return export(store, signed, place, RowExporter(settings.store_url, settings.publish_processes))


def find_opted_out_servers(settings: Settings, store: Store, run: str) -> frozenset[ServerId]:
    """The servers of a run that have opted out; datasets do not contain them."""
    opt_outs = load_opt_outs(settings, store)
    if not opt_outs:
        return frozenset()
    planned = store.list_planned_servers(run)
    parts = (planned[start : start + _READ] for start in range(0, len(planned), _READ))
    return frozenset(server.id for part in parts for server in store.find_servers(part) if opt_outs.why(server))


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


def _add_snapshot(ctx: Context, row: RunRow, location: str) -> None:
    def write(folder: Path, earlier: Path | None) -> Manifest:
        return write_snapshot(
            ctx.settings, ctx.store, ExportOrder(run=row.run.id, archive=True, earlier=earlier), folder
        )

    if withdrawn := withdraw_snapshots(ctx.store, location):
        ctx.log.warning("datasets_withdrawn", snapshots=withdrawn)
    if storage.add_snapshot(location, row.run.id, write, ctx.clock.wall()):
        ctx.log.info("dataset_written", run=row.run.id)
        removed = storage.prune_snapshots(location, ctx.settings.datasets_keep)
        if removed:
            ctx.log.info("datasets_removed", snapshots=removed)
