"""The place of snapshots: listed whole or not at all, in a folder and behind a URL."""

from __future__ import annotations

import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import fsspec
import pytest

from evidence.canonical import sha256
from publish.datasets.snapshot import storage
from publish.datasets.snapshot.archive import archive_name, write_archive
from publish.datasets.snapshot.manifest import MANIFEST, Manifest, decode_manifest
from publish.datasets.snapshot.storage import add_snapshot, describe_file, list_snapshots, prune_snapshots
from tests.publish.datasets import nights

NOW = datetime(2026, 3, 2, tzinfo=UTC)
ID = nights.RUN.id


class Writer:
    """Copies a snapshot that is written already, and remembers its arguments."""

    def __init__(self, written: Path) -> None:
        self.written = written
        self.earlier: list[Path | None] = []

    def __call__(self, folder: Path, earlier: Path | None) -> Manifest:
        self.earlier.append(earlier)
        shutil.copytree(self.written, folder)
        return decode_manifest((folder / MANIFEST).read_bytes())


@pytest.fixture(params=["folder", "url"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "place") if request.param == "folder" else f"memory://{tmp_path.name}"


def another(place: str, name: str, as_of: str) -> None:
    """A second snapshot, of another run: only its manifest is read."""
    files, root = fsspec.core.url_to_fs(place)
    text = files.cat_file(f"{root}/{ID}/{MANIFEST}").decode()
    files.makedirs(f"{root}/{name}", exist_ok=True)
    changed = text.replace(ID, name).replace(nights.RUN.as_of.isoformat(), as_of)
    files.pipe_file(f"{root}/{name}/{MANIFEST}", changed.encode())


def test_the_archive_of_a_snapshot_is_listed_apart_from_its_files(written: Path, place: str) -> None:
    def write(folder: Path, earlier: Path | None) -> Manifest:
        made = Writer(written)(folder, earlier)
        write_archive(folder, ID, folder / archive_name(ID))
        return made

    assert add_snapshot(place, ID, write, NOW)
    (one,) = list_snapshots(place, remote=True)
    assert one.archive is not None
    files, root = fsspec.core.url_to_fs(place)
    data = files.cat_file(f"{root}/{ID}/{archive_name(ID)}")
    assert (one.archive.name, one.archive.bytes, one.archive.sha256) == (archive_name(ID), len(data), sha256(data))
    assert one.archive.name not in {file.name for file in one.files}
    assert describe_file(one.archive)
    assert prune_snapshots(place, 0) == []
    storage.remove_snapshot(place, ID)
    assert list_snapshots(place, remote=True) == ()
    assert not files.exists(f"{root}/{ID}/{archive_name(ID)}")


def test_a_snapshot_that_was_added_is_listed_and_not_added_again(written: Path, place: str) -> None:
    write = Writer(written)
    assert list_snapshots(place, remote=True) == ()
    assert add_snapshot(place, ID, write, NOW)
    assert not add_snapshot(place, ID, write, NOW)
    (one,) = list_snapshots(place, remote=True)
    assert (one.id, one.run, one.as_of, one.signed) == (ID, ID, nights.RUN.as_of, False)
    assert {file.name for file in one.files} == {path.name for path in written.iterdir()}
    assert all(describe_file(file) for file in one.files)
    assert write.earlier == [None]


def test_the_newest_comes_first_and_the_oldest_go(written: Path, place: str) -> None:
    add_snapshot(place, ID, Writer(written), NOW)
    another(place, "older", "2026-02-01T00:00:00+00:00")
    another(place, "newer", "2026-04-01T00:00:00+00:00")
    assert [one.id for one in list_snapshots(place, remote=True)] == ["newer", ID, "older"]
    assert prune_snapshots(place, 0) == []
    assert prune_snapshots(place, 1) == [ID, "older"]
    assert [one.id for one in list_snapshots(place, remote=True)] == ["newer"]


def test_a_folder_without_a_manifest_is_not_there_yet(written: Path, place: str) -> None:
    add_snapshot(place, ID, Writer(written), NOW)
    files, root = fsspec.core.url_to_fs(place)
    files.rm(f"{root}/{ID}/{MANIFEST}")
    assert list_snapshots(place, remote=True) == ()


def test_the_site_contacts_no_storage(written: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage, "open_place", lambda place: pytest.fail(f"{place} was contacted"))
    assert list_snapshots("memory://somewhere") == ()


def test_the_manifest_is_uploaded_last(written: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    names: list[str] = []

    class Files:
        def makedirs(self, path: str, exist_ok: bool) -> None:
            pass

        def put_file(self, source: str, target: str) -> None:
            names.append(Path(target).name)

        def exists(self, path: str) -> bool:
            return False

    monkeypatch.setattr(storage, "open_place", lambda place: (Files(), "root"))
    assert add_snapshot(f"memory://{tmp_path.name}-last", ID, Writer(written), NOW)
    assert names[-1] == MANIFEST
    assert set(names) == {path.name for path in written.iterdir()}


def test_a_manifest_of_another_folder_is_not_believed(written: Path, tmp_path: Path) -> None:
    shutil.copytree(written, tmp_path / "place" / "borrowed")
    assert list_snapshots(str(tmp_path / "place")) == ()


def test_what_a_crash_left_behind_goes_after_a_day(written: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    for name, age in (("old", timedelta(days=2)), ("new", timedelta(hours=1))):
        folder = place / f".{name}.x.partial"
        folder.mkdir(parents=True)
        moment = (NOW - age).timestamp()
        os.utime(folder, (moment, moment))
    add_snapshot(str(place), ID, Writer(written), NOW)
    assert {path.name for path in place.iterdir()} == {".new.x.partial", ID}


def test_the_snapshot_before_is_named_to_who_writes(written: Path, tmp_path: Path) -> None:
    place = str(tmp_path / "place")
    add_snapshot(place, ID, Writer(written), NOW)
    another(place, "newer", "2026-04-01T00:00:00+00:00")
    write = Writer(written)
    add_snapshot(place, "next", write, NOW)
    assert write.earlier == [tmp_path / "place" / "newer"]
