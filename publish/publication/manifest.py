"""The manifest of a published run: format, versions and counts; beside exported files also their digests."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, Final, TypeAlias

from evidence.store import Stage, Store, UnknownRun
from publish.disclosure import PUBLIC_KINDS
from publish.formats.run_files import FileForm
from publish.publication import run_export
from publish.publication.run_export import ExportedBatch

RUN_FILES: Final[Mapping[str, FileForm]] = {
    "servers.jsonl": FileForm("jsonl"),
    "scores.csv": FileForm("csv"),
    "comparable.jsonl": FileForm("jsonl", comparable=True),
}

FORMAT: Final = 6
"""Version of the dataset format; bumped when columns, members or files change."""

MANIFEST: Final = "manifest.json"

ExportBatches: TypeAlias = Callable[[Store, str, Sequence[FileForm]], Iterable[ExportedBatch]]
"""Exports the batches: `run_export.export_batches`, or several processes (`publish.publication.export_workers`)."""


def make_manifest(store: Store, run_id: str) -> bytes:
    """The manifest of a run as JSON; the same store, the same bytes. No server is read."""
    row = store.find_run(run_id)
    if row is None:
        raise UnknownRun(f"no run {run_id}")
    progress = store.read_progress(run_id)
    document = {
        "format": FORMAT,
        "run": {"id": row.run.id, "trigger": row.run.trigger.value, "as_of": row.run.as_of.isoformat()},
        "versions": dict(row.run.pins),
        "counts": {
            "planned": progress.planned,
            "carried": progress.carried,
            "collected": progress.done.get(Stage.COLLECT, 0),
            "scored": progress.done.get(Stage.SCORE, 0),
            "absent": {
                f"{kind}/{reason}": count for (kind, reason), count in progress.absent.items() if kind in PUBLIC_KINDS
            },
        },
    }
    return _encode(document)


def write_run_files(store: Store, run_id: str, folder: Path, export: ExportBatches = run_export.export_batches) -> int:
    """Write all files of a run into a folder, with the run's manifest if it is published; return the number of servers.

    This manifest has size and SHA-256 of the files besides. Files appear when all of them are complete.
    """
    pages = export(store, run_id, list(RUN_FILES.values()))
    with ExitStack() as files:
        sinks = {
            form: _Digested(files.enter_context(run_export.open_atomically(folder / name)))
            for name, form in RUN_FILES.items()
        }
        manifest = None
        if (known := store.find_snapshot(run_id)) is not None:
            manifest = files.enter_context(run_export.open_atomically(folder / MANIFEST))
        servers = run_export.write_batches(pages, sinks)
        if known is not None and manifest is not None:
            described = {name: sinks[form].describe() for name, form in RUN_FILES.items()}
            manifest.write(_encode({**json.loads(known), "format": FORMAT, "files": described}))
        return servers


class _Digested:
    """A file that is being written, with its size and digest."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._sha256 = hashlib.sha256()
        self._size = 0

    def write(self, data: bytes, /) -> int:
        self._sha256.update(data)
        self._size += len(data)
        return self._file.write(data)

    def describe(self) -> dict[str, Any]:
        return {"bytes": self._size, "sha256": self._sha256.hexdigest()}


def _encode(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, sort_keys=True, indent=2).encode() + b"\n"
