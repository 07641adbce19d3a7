"""The manifest of a published run: format, versions, counts, and digests to verify a copy."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, TypeAlias

from evidence.store import Stage, Store, UnknownRun
from publish.disclosure import PUBLIC_KINDS
from publish.formats.run_files import FileForm
from publish.publication import run_export
from publish.publication.part_writer import RUN_FILES, digest_parts
from publish.publication.run_export import ExportedBatch

FORMAT: Final = 5
"""Version of the dataset format; bumped when columns, members or files change."""

MANIFEST: Final = "manifest.json"

ExportBatches: TypeAlias = Callable[[Store, str, Sequence[FileForm]], Iterable[ExportedBatch]]
"""Exports the batches: `run_export.export_batches`, or several processes (`publish.publication.export_workers`)."""


def make_manifest(store: Store, run_id: str, digests: Sequence[Mapping[str, Any]] | None = None) -> bytes:
    """The manifest of a run as JSON, with the digests that its exported files have; the same store, the same bytes.

    Without the digests of its parts, which a publication has, the run is read.
    """
    row = store.find_run(run_id)
    if row is None:
        raise UnknownRun(f"no run {run_id}")
    progress = store.read_progress(run_id)
    parts = list(digest_parts(store, row.run, row.reviews_until)) if digests is None else digests
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
        "files": {name: _describe_file([part[name] for part in parts]) for name in RUN_FILES},
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


def _describe_file(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """A file as its parts, one after the other, which may be hashed in any order."""
    return {
        "bytes": sum(part["bytes"] for part in parts),
        "servers": sum(part["servers"] for part in parts),
        "parts": [{"bytes": part["bytes"], "sha256": part["sha256"]} for part in parts],
    }
