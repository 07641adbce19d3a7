"""Snapshots of published nights, written by beat and from the command line: what goes in, and who signs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from evidence.model import ServerId, Trigger
from evidence.store import RunRow, RunState, Store
from publish.datasets.export import ExportOrder, export_snapshot
from publish.datasets.rows.export_workers import RowExporter
from publish.datasets.snapshot import storage
from publish.datasets.snapshot.manifest import Manifest
from publish.datasets.snapshot.minisign import (
    MAX_FILE_BYTES,
    SignatureProblem,
    Signer,
    is_encrypted_key,
    parse_secret_key,
)
from workers.context import Context
from workers.coordination.broker import TaskLock
from workers.opt_outs import load_opt_outs
from workers.publication.snapshot_withdrawal import withdraw_snapshots
from workers.settings.environment import InvalidSetting, Settings

_LOOK_BACK = 50
_READ = 5_000


async def write_current_snapshot(ctx: Context, turn: TaskLock) -> None:
    """Write the newest published night into the place of datasets unless it is there, and remove the oldest ones.

    Snapshots that tell of a finding which was made private again are removed first.

    One worker does so at a time. It may be killed anywhere and called twice: a snapshot appears whole or not at all.
    """
    place = ctx.settings.datasets
    row = await asyncio.to_thread(newest_published_run, ctx.store)
    if not place or row is None:
        return
    async with turn("datasets") as mine:
        if mine:
            await asyncio.to_thread(_keep, ctx, row, place)


def newest_published_run(store: Store) -> RunRow | None:
    rows = store.list_runs(_LOOK_BACK, triggers=(Trigger.NIGHTLY,))
    published = (row for row in rows if row.state is RunState.PUBLISHED)
    return max(published, key=lambda row: row.run.as_of, default=None)


def write_snapshot(
    settings: Settings, store: Store, order: ExportOrder, folder: Path, *, password: Callable[[], str] | None = None
) -> Manifest:
    """Write a snapshot as the settings say: without servers that opted out, signed when there is a key."""
    key = load_signer(settings.datasets_key, password or settings.datasets_password.get_secret_value)
    signed = replace(
        order, hidden=find_opted_out_servers(settings, store, order.run), signer=None if order.comparable else key
    )
    return export_snapshot(store, signed, folder, RowExporter(settings.store_url, settings.publish_processes))


def find_opted_out_servers(settings: Settings, store: Store, run: str) -> frozenset[ServerId]:
    """The servers of a run whose owners asked not to be looked at: nothing tells of them any more."""
    asked = load_opt_outs(settings, store)
    if not asked:
        return frozenset()
    planned = store.list_planned_servers(run)
    parts = (planned[start : start + _READ] for start in range(0, len(planned), _READ))
    return frozenset(server.id for part in parts for server in store.find_servers(part) if asked.why(server))


def load_signer(path: Path | None, password: Callable[[], str]) -> Signer | None:
    """The secret key of a file, None without one; raise SettingUnfit when it cannot be used."""
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


def _keep(ctx: Context, row: RunRow, place: str) -> None:
    def made(folder: Path, earlier: Path | None) -> Manifest:
        return write_snapshot(ctx.settings, ctx.store, ExportOrder(run=row.run.id, earlier=earlier), folder)

    if taken_back := withdraw_snapshots(ctx.store, place):
        ctx.log.warning("datasets_withdrawn", snapshots=taken_back)
    if storage.add_snapshot(place, row.run.id, made, ctx.clock.wall()):
        ctx.log.info("dataset_written", run=row.run.id)
        gone = storage.prune_snapshots(place, ctx.settings.datasets_keep)
        if gone:
            ctx.log.info("datasets_removed", snapshots=gone)
