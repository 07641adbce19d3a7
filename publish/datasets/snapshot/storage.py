"""Stores snapshots, one folder each, in a local folder or at an fsspec URL."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

import fsspec
from msgspec import Struct

from publish.datasets.format.tables import TABLES, TABLES_BY_NAME
from publish.datasets.snapshot.archive import ARCHIVE, DIGEST, archive_name, parse_digest
from publish.datasets.snapshot.manifest import (
    CHECKSUMS,
    LICENCE,
    MANIFEST,
    SIGNATURE,
    SNAPSHOT_ID,
    Manifest,
    NotASnapshot,
    SnapshotFile,
    decode_manifest,
)
from publish.datasets.snapshot.metadata import schema_file_name
from publish.datasets.snapshot.reader import MANIFEST_LIMIT, UnreadableFile, read_small_file

_PARTIAL: Final = (".partial", ".replaced")
_STALE: Final = timedelta(days=1)
"""Age from which an unfinished folder counts as left behind by a crash."""


class StoredSnapshot(Struct, frozen=True, kw_only=True):
    """One stored snapshot, described from its manifest. `archive` has all of its files in one, if it was written."""

    id: str
    run: str
    as_of: datetime
    schema: str
    methodology: str
    servers: int
    files: tuple[SnapshotFile, ...]
    signed: bool
    archive: SnapshotFile | None = None
    licence: str = LICENCE


def list_snapshots(place: str, *, remote: bool = False) -> tuple[StoredSnapshot, ...]:
    """The snapshots at a place, newest first; none if the place is empty, missing or not named.

    A place on another machine is contacted only with `remote`, since the site sends no requests. A folder without a
    manifest is incomplete and not listed.
    """
    if not place or not (remote or is_local_folder(place)):
        return ()
    found = _local(Path(place)) if is_local_folder(place) else _remote(place)
    return tuple(sorted(found, key=lambda snapshot: (snapshot.as_of, snapshot.id), reverse=True))


def is_local_folder(place: str) -> bool:
    """Whether a place is a local folder."""
    return "://" not in place


def open_place(place: str) -> tuple[Any, str]:
    """The file system of a place, and its path there."""
    files, root = fsspec.core.url_to_fs(place)
    return files, root.rstrip("/")


def has_snapshot(place: str, snapshot: str) -> bool:
    """Whether a snapshot is stored at a place, which may be on another machine."""
    return any(one.id == snapshot for one in list_snapshots(place, remote=True))


def describe_file(file: SnapshotFile) -> str:
    """What a file is, in a few words."""
    if file.table is not None:
        return TABLES_BY_NAME[file.table].title
    if file.name.endswith(ARCHIVE):
        return "All files of the snapshot"
    schemas = {schema_file_name(table): f"JSON Schema of {table.name}" for table in TABLES}
    return schemas.get(file.name) or _ABOUT.get(file.name, "")


def add_snapshot(place: str, snapshot: str, write: Callable[[Path, Path | None], Manifest], now: datetime) -> bool:
    """Write a snapshot to a place unless it exists there; return whether it was written.

    `write` gets the new folder and the folder of the newest earlier local snapshot, if any. At a
    remote place the manifest is uploaded last, so that an incomplete snapshot is not listed.
    """
    if has_snapshot(place, snapshot):
        return False
    if is_local_folder(place):
        folder = Path(place)
        _sweep(folder, now)
        write(folder / snapshot, _newest(folder))
        return True
    with tempfile.TemporaryDirectory(prefix="hallmark-dataset-") as made:
        folder = Path(made) / snapshot
        manifest = write(folder, None)
        _upload(folder, place, snapshot, manifest)
    return True


def prune_snapshots(place: str, keep: int) -> list[str]:
    """Remove all but the newest `keep` snapshots; return the removed ids. 0 keeps all."""
    old = list_snapshots(place, remote=True)[keep:] if keep else ()
    for snapshot in old:
        remove_snapshot(place, snapshot.id)
    return [snapshot.id for snapshot in old]


def remove_snapshot(place: str, snapshot: str) -> None:
    """Remove a snapshot, its manifest first, so that it is no longer listed."""
    if is_local_folder(place):
        (Path(place) / snapshot / MANIFEST).unlink(missing_ok=True)
        shutil.rmtree(Path(place) / snapshot, ignore_errors=True)
    else:
        files, root = open_place(place)
        files.rm(f"{root}/{snapshot}/{MANIFEST}")
        files.rm(f"{root}/{snapshot}", recursive=True)


def _local(place: Path) -> Iterator[StoredSnapshot]:
    if not place.is_dir():
        return
    for folder in place.iterdir():
        if SNAPSHOT_ID.fullmatch(folder.name) and not folder.is_symlink():
            try:
                data = read_small_file(folder, MANIFEST, MANIFEST_LIMIT)
            except (UnreadableFile, OSError):
                continue
            yield from _snapshot(folder.name, data, partial(_size, folder), partial(_read, folder))


def _remote(place: str) -> Iterator[StoredSnapshot]:
    files, root = open_place(place)
    if not files.exists(root):
        return
    for path in files.ls(root, detail=False):
        name = path.rstrip("/").rpartition("/")[2]
        if SNAPSHOT_ID.fullmatch(name) and files.exists(f"{root}/{name}/{MANIFEST}"):
            data = files.cat_file(f"{root}/{name}/{MANIFEST}", end=MANIFEST_LIMIT)
            at = f"{root}/{name}"
            yield from _snapshot(name, data, partial(_remote_size, files, at), partial(_remote_read, files, at))


def _snapshot(
    name: str, data: bytes, size: Callable[[str], int | None], read: Callable[[str], bytes]
) -> Iterator[StoredSnapshot]:
    """The snapshot of a folder, if its manifest is valid and belongs to that folder; `size` and `read` are of files."""
    try:
        manifest = decode_manifest(data)
    except NotASnapshot:
        return
    if manifest.snapshot != name or manifest.as_of is None:
        return
    beside = [(CHECKSUMS, size(CHECKSUMS)), (MANIFEST, len(data)), (SIGNATURE, size(SIGNATURE))]
    yield StoredSnapshot(
        id=manifest.snapshot,
        run=str(manifest.run.get("id", "")),
        as_of=manifest.as_of,
        schema=manifest.schema,
        methodology=manifest.methodology,
        servers=manifest.counts.get("servers", 0),
        files=(*manifest.files, *(SnapshotFile(other, bytes_, "") for other, bytes_ in beside if bytes_ is not None)),
        signed=beside[2][1] is not None,
        archive=_archive(manifest.snapshot, size, read),
    )


def _archive(snapshot: str, size: Callable[[str], int | None], read: Callable[[str], bytes]) -> SnapshotFile | None:
    name = archive_name(snapshot)
    known = size(name)
    digest = parse_digest(read(name + DIGEST)) if known is not None else None
    return SnapshotFile(name, known, digest) if known is not None and digest else None


def _size(folder: Path, name: str) -> int | None:
    path = folder / name
    return path.stat().st_size if path.is_file() and not path.is_symlink() else None


def _read(folder: Path, name: str) -> bytes:
    """A small file; empty if it cannot be read."""
    try:
        return read_small_file(folder, name, MANIFEST_LIMIT)
    except (UnreadableFile, OSError):
        return b""


def _remote_read(files: Any, folder: str, name: str) -> bytes:
    path = f"{folder}/{name}"
    return bytes(files.cat_file(path, end=MANIFEST_LIMIT)) if files.exists(path) else b""


def _remote_size(files: Any, folder: str, name: str) -> int | None:
    path = f"{folder}/{name}"
    return int(files.size(path)) if files.exists(path) else None


def _newest(place: Path) -> Path | None:
    known = list_snapshots(str(place))
    return place / known[0].id if known else None


def _sweep(place: Path, now: datetime) -> None:
    """Remove unfinished folders that a crash left behind."""
    if not place.is_dir():
        return
    for folder in place.iterdir():
        is_left = folder.name.startswith(".") and folder.name.endswith(_PARTIAL) and folder.is_dir()
        if is_left and now.timestamp() - folder.stat().st_mtime > _STALE.total_seconds():
            shutil.rmtree(folder, ignore_errors=True)


def _upload(folder: Path, place: str, snapshot: str, manifest: Manifest) -> None:
    files, root = open_place(place)
    target = f"{root}/{snapshot}"
    files.makedirs(target, exist_ok=True)
    names = sorted(path.name for path in folder.iterdir())
    for name in sorted(names, key=lambda one: (one == MANIFEST, one)):
        files.put_file(str(folder / name), f"{target}/{name}")


def _filesystem(place: str) -> tuple[Any, str]:
    files, root = fsspec.core.url_to_fs(place)
    return files, root.rstrip("/")


_ABOUT: Final = {
    MANIFEST: "What the snapshot is, and what identifies each of its files",
    CHECKSUMS: "Digests for sha256sum",
    SIGNATURE: "Signature of the manifest, for minisign",
    "methodology.json": "Every rubric with its weights, criteria and bands",
    "croissant.json": "Croissant metadata",
    "datapackage.json": "Frictionless Data Package of the CSV files",
    "CHANGELOG.md": "What changed since the snapshot before",
    "LICENSE.txt": "What may be done with it",
    "README.md": "How to check it, every column, ten questions in SQL",
}
