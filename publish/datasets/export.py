"""Writes a snapshot: a folder or archive that appears under its name only when all files are complete."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from msgspec import Struct

from evidence.model import ServerId
from evidence.store import RunRow, Store, UnknownRun
from publish.datasets.differences.changelog import render_changelog
from publish.datasets.format.methodology import describe_methodology, methodology_version
from publish.datasets.format.table_files import FileDigest, TableFiles
from publish.datasets.format.tables import TABLES
from publish.datasets.rows.export_workers import BatchSource, RowExporter
from publish.datasets.snapshot import manifest as manifests
from publish.datasets.snapshot import metadata
from publish.datasets.snapshot.archive import archive_name, digest_path, write_archive
from publish.datasets.snapshot.manifest import CHECKSUMS, MANIFEST, SIGNATURE, Manifest
from publish.datasets.snapshot.minisign import Signer
from publish.datasets.snapshot.reader import open_snapshot
from publish.datasets.snapshot.source_counts import SourceCounts

CHANGELOG: Final = "CHANGELOG.md"
ONE_PROCESS: Final = RowExporter()


class FolderNotEmpty(ValueError):
    """The folder exists and is no snapshot that could be replaced."""


class ExportOrder(Struct, frozen=True, kw_only=True):
    """Options of an export. `earlier` is the folder of the previous snapshot, for the changelog.

    With `archive` the folder also holds all of its files as one archive, and the SHA-256 of that. `hidden` are servers
    that opted out after the run; `on_progress` gets the number of servers of each batch.
    """

    run: str
    comparable: bool = False
    archive: bool = False
    earlier: Path | None = None
    signer: Signer | None = None
    hidden: frozenset[ServerId] = frozenset()
    on_progress: Callable[[int], None] = lambda _servers: None


def export_snapshot(store: Store, order: ExportOrder, folder: Path, exporter: BatchSource = ONE_PROCESS) -> Manifest:
    """Write a run into a folder as a snapshot, in bounded memory; raise UnknownRun or FolderNotEmpty.

    `exporter` gives its rows. The same store and order give the same bytes; with a signer all but the signature. The
    folder appears when it is complete. An existing snapshot is replaced.
    """
    row = store.find_run(order.run)
    if row is None:
        raise UnknownRun(f"expected the id of a stored run, found {order.run!r}; `hallmark runs` lists them")
    with create_folder_atomically(folder) as partial:
        written, seen, counts = _write_tables(store, row, order, partial, exporter)
        method = describe_methodology(row.run.pins)
        as_of = None if order.comparable else row.run.as_of
        for name, data in metadata.make_documents(
            written, comparable=order.comparable, as_of=as_of, methodology=method
        ):
            written[name] = _write(partial / name, data)
        earlier = open_snapshot(order.earlier) if order.earlier and not order.comparable else None
        made = manifests.make_manifest(
            row,
            counts={**counts, "planned": store.read_progress(order.run).planned},
            seen=seen,
            methodology=methodology_version(method),
            comparable=order.comparable,
            earlier=earlier.manifest.snapshot if earlier else None,
        )
        if not order.comparable:
            changes = render_changelog(earlier, manifests.add_files(made, written), partial)
            written[CHANGELOG] = _write(partial / CHANGELOG, changes.encode())
        made = manifests.add_files(made, written)
        data = manifests.encode_manifest(made)
        written[MANIFEST] = _write(partial / MANIFEST, data)
        _write(partial / CHECKSUMS, manifests.render_checksums(written))
        if order.signer is not None:
            _write(partial / SIGNATURE, order.signer.sign(data, trusted=make_trusted_comment(made)))
        if order.archive:
            write_archive(partial, made.snapshot, partial / archive_name(made.snapshot))
    return made


def export_archive(store: Store, order: ExportOrder, path: Path, exporter: BatchSource = ONE_PROCESS) -> Manifest:
    """Write a run as one archive and the file with its SHA-256; raise UnknownRun, or FolderNotEmpty if it exists."""
    if path.exists():
        raise FolderNotEmpty(f"{path} exists: name an archive that does not exist")
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{path.name}.", suffix=".partial", dir=path.parent) as made:
        folder, partial = Path(made) / "snapshot", Path(made) / path.name
        manifest = export_snapshot(store, order, folder, exporter)
        write_archive(folder, manifest.snapshot, partial)
        digest_path(partial).replace(digest_path(path))
        partial.replace(path)
    return manifest


def make_trusted_comment(manifest: Manifest) -> str:
    """The trusted comment of a signature."""
    return f"hallmark dataset {manifest.snapshot}"


@contextmanager
def create_folder_atomically(folder: Path) -> Iterator[Path]:
    """A temporary folder that is renamed to `folder` if the block succeeds, and removed otherwise."""
    if folder.is_symlink() or (folder.exists() and not _may_go(folder)):
        raise FolderNotEmpty(f"{folder} exists and is not a snapshot: name a folder that is empty or does not exist")
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".partial", dir=folder.parent))
    try:
        yield partial
        partial.chmod(0o755)
        _replace(folder, partial)
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _may_go(folder: Path) -> bool:
    return folder.is_dir() and ((folder / MANIFEST).is_file() or not any(folder.iterdir()))


def _replace(folder: Path, partial: Path) -> None:
    if not folder.exists():
        partial.rename(folder)
        return
    before = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".replaced", dir=folder.parent))
    folder.rename(before / "snapshot")
    partial.rename(folder)
    shutil.rmtree(before, ignore_errors=True)


def _write_tables(
    store: Store, row: RunRow, order: ExportOrder, folder: Path, exporter: BatchSource
) -> tuple[dict[str, FileDigest], SourceCounts, dict[str, int]]:
    seen, servers = SourceCounts(), 0
    with ExitStack() as stack:
        files = {
            table.name: stack.enter_context(TableFiles(table, folder, comparable=order.comparable)) for table in TABLES
        }
        for page in exporter.pages(store, row.run.id, comparable=order.comparable, hidden=order.hidden):
            for name, block in page.blocks.items():
                files[name].write(block)
            seen.add(page.seen)
            servers += page.servers
            order.on_progress(page.servers)
        written = {name: one for table in files.values() for name, one in table.finish().items()}
    return written, seen, {"servers": servers}


def _write(path: Path, data: bytes) -> FileDigest:
    path.write_bytes(data)
    return FileDigest(hashlib.sha256(data).hexdigest(), len(data))
