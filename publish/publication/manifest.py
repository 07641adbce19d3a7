"""The manifest of a published run: format, versions, counts, and digests to verify a copy."""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, TypeAlias

from evidence.store import Stage, Store, UnknownRun
from publish.disclosure import PUBLIC_KINDS
from publish.formats.run_files import FileForm
from publish.publication import run_export
from publish.publication.run_export import ExportedBatch

FORMAT: Final = 4
"""Version of the dataset format; bumped when columns, members or files change."""

RUN_FILES: Final[Mapping[str, FileForm]] = {
    "servers.jsonl": FileForm("jsonl"),
    "scores.csv": FileForm("csv"),
    "comparable.jsonl": FileForm("jsonl", comparable=True),
}

MANIFEST: Final = "manifest.json"

ExportBatches: TypeAlias = Callable[[Store, str, Sequence[FileForm]], Iterable[ExportedBatch]]
"""Exports the batches: `run_export.export_batches`, or several processes (`publish.publication.export_workers`)."""


def make_manifest(store: Store, run_id: str, export: ExportBatches = run_export.export_batches) -> bytes:
    """The manifest of a run as JSON, with the digests that its exported files have; the same store, the same bytes."""
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
        "files": _digests(export(store, run_id, list(RUN_FILES.values()))),
    }
    return json.dumps(document, sort_keys=True, indent=2).encode() + b"\n"


def write_run_files(store: Store, run_id: str, folder: Path, export: ExportBatches = run_export.export_batches) -> int:
    """Write all files of a run into a folder, beside them its manifest when it is published; how many servers.

    Files appear when all of them are complete.
    """
    pages = export(store, run_id, list(RUN_FILES.values()))
    with ExitStack() as files:
        sinks = {
            form: files.enter_context(run_export.open_atomically(folder / name)) for name, form in RUN_FILES.items()
        }
        if (known := store.find_snapshot(run_id)) is not None:
            files.enter_context(run_export.open_atomically(folder / MANIFEST)).write(known)
        return run_export.write_batches(pages, sinks)


def _digests(pages: Iterable[ExportedBatch]) -> dict[str, Any]:
    """Digests of all files, which are encoded together and not stored."""
    sinks = {form: _Digest() for form in RUN_FILES.values()}
    servers = run_export.write_batches(pages, sinks)
    return {
        name: {"sha256": sinks[form].sha256.hexdigest(), "bytes": sinks[form].size, "servers": servers}
        for name, form in RUN_FILES.items()
    }


class _Digest(io.BytesIO):
    """A writer that keeps only digest and size."""

    def __init__(self) -> None:
        super().__init__()
        self.sha256 = hashlib.sha256()
        self.size = 0

    def write(self, data: Any, /) -> int:
        self.sha256.update(data)
        self.size += len(data)
        return len(data)
