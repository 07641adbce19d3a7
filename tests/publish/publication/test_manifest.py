from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from evidence.store import Store
from publish.formats.run_files import FileForm
from publish.publication import manifest as snapshot
from publish.publication import run_export
from publish.publication.run_export import ExportedBatch
from tests.publish import samples


def test_the_manifest_counts_and_names_versions(make_store: Callable[..., Store]) -> None:
    store = make_store(samples.dossiers(13))
    manifest = json.loads(snapshot.make_manifest(store, samples.RUN.id))
    assert manifest["format"] == snapshot.FORMAT
    assert manifest["versions"] == dict(samples.RUN.pins)
    assert manifest["counts"]["planned"] == 13
    assert manifest["counts"]["absent"] == {"listing/oauth_required": 1, "listing/unreachable": 1}


def test_the_manifest_is_the_same_twice(make_store: Callable[..., Store]) -> None:
    store = make_store(samples.dossiers(5))
    assert snapshot.make_manifest(store, samples.RUN.id) == snapshot.make_manifest(store, samples.RUN.id)


def test_all_files_are_written_at_once_with_a_manifest_that_has_their_digests(
    make_store: Callable[..., Store], tmp_path: Path
) -> None:
    store = make_store([*samples.dossiers(13), samples.hostile_dossier()])
    assert snapshot.write_run_files(store, samples.RUN.id, tmp_path / "before") == 14
    assert {path.name for path in (tmp_path / "before").iterdir()} == set(snapshot.RUN_FILES)
    store.put_snapshot(samples.RUN.id, snapshot.make_manifest(store, samples.RUN.id), samples.AS_OF)
    snapshot.write_run_files(store, samples.RUN.id, tmp_path / "after")
    manifest = json.loads((tmp_path / "after" / snapshot.MANIFEST).read_bytes())
    assert manifest["files"].keys() == snapshot.RUN_FILES.keys()
    for name, form in snapshot.RUN_FILES.items():
        data, out = (tmp_path / "after" / name).read_bytes(), io.BytesIO()
        assert manifest["files"][name] == {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        run_export.export_run(store, samples.RUN.id, out, format=form.format, comparable=form.comparable)
        assert out.getvalue() == data


def test_no_file_appears_before_all_are_complete(make_store: Callable[..., Store], tmp_path: Path) -> None:
    def broken(store: Store, run_id: str, forms: Sequence[FileForm]) -> Iterator[ExportedBatch]:
        yield from run_export.export_batches(store, run_id, forms)
        raise KeyError("the disk")

    with pytest.raises(KeyError):
        snapshot.write_run_files(make_store(samples.dossiers(3)), samples.RUN.id, tmp_path / "out", broken)
    assert list((tmp_path / "out").iterdir()) == []
