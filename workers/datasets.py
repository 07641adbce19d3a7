"""Snapshots of published nights, written by beat and from the command line: what goes in, and who signs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from evidence.model import ServerId, Trigger
from evidence.store import RunRow, RunState, Store
from publish.datasets import shelf
from publish.datasets.export import Order, export
from publish.datasets.manifest import Manifest
from publish.datasets.minisign import LARGEST, SignatureProblem, Signer, is_encrypted, read_secret
from publish.datasets.printing import Printer
from workers.broker import Turn
from workers.context import Context
from workers.opt_outs import opt_outs
from workers.settings import Settings, SettingUnfit
from workers.withdrawing import withdraw

_LOOK_BACK = 50
_READ = 5_000


async def keep_current(ctx: Context, turn: Turn) -> None:
    """Write the newest published night into the place of datasets unless it is there, and remove the oldest ones.

    Snapshots that tell of a finding which was made private again are removed first.

    One worker does so at a time. It may be killed anywhere and called twice: a snapshot appears whole or not at all.
    """
    place = ctx.settings.datasets
    row = await asyncio.to_thread(newest, ctx.store)
    if not place or row is None:
        return
    async with turn("datasets") as mine:
        if mine:
            await asyncio.to_thread(_keep, ctx, row, place)


def newest(store: Store) -> RunRow | None:
    """The newest night that is published."""
    rows = store.runs(_LOOK_BACK, triggers=(Trigger.NIGHTLY,))
    published = (row for row in rows if row.state is RunState.PUBLISHED)
    return max(published, key=lambda row: row.run.as_of, default=None)


def write(
    settings: Settings,
    store: Store,
    order: Order,
    folder: Path,
    *,
    password: Callable[[], str] | None = None,
) -> Manifest:
    """Write a snapshot as the settings say: without servers that opted out, signed when there is a key."""
    key = signer(settings.datasets_key, password or settings.datasets_password.get_secret_value)
    signed = replace(order, hidden=hidden(settings, store, order.run), signer=None if order.comparable else key)
    return export(store, signed, folder, Printer(settings.store_url, settings.publish_processes))


def hidden(settings: Settings, store: Store, run: str) -> frozenset[ServerId]:
    """The servers of a run whose owners asked not to be looked at: nothing tells of them any more."""
    asked = opt_outs(settings, store)
    if not asked:
        return frozenset()
    planned = store.planned(run)
    parts = (planned[start : start + _READ] for start in range(0, len(planned), _READ))
    return frozenset(server.id for part in parts for server in store.servers(part) if asked.why(server))


def signer(path: Path | None, password: Callable[[], str]) -> Signer | None:
    """The secret key of a file, None without one; raise SettingUnfit when it cannot be used."""
    if path is None:
        return None
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST + 1)
        return read_secret(data, password() if is_encrypted(data) else "")
    except OSError as error:
        raise SettingUnfit(f"HALLMARK_DATASETS_KEY: {path} cannot be read: {error.strerror}") from error
    except SignatureProblem as error:
        raise SettingUnfit(f"HALLMARK_DATASETS_KEY: {path}: {error}") from error


def _keep(ctx: Context, row: RunRow, place: str) -> None:
    def made(folder: Path, earlier: Path | None) -> Manifest:
        return write(ctx.settings, ctx.store, Order(run=row.run.id, earlier=earlier), folder)

    if taken_back := withdraw(ctx.store, place):
        ctx.log.warning("datasets_withdrawn", snapshots=taken_back)
    if shelf.add(place, row.run.id, made, ctx.clock.wall()):
        ctx.log.info("dataset_written", run=row.run.id)
        gone = shelf.prune(place, ctx.settings.datasets_keep)
        if gone:
            ctx.log.info("datasets_removed", snapshots=gone)
