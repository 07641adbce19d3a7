"""A snapshot as one ZIP file: equal bytes, opened by any tool, and unpacked only as we write it."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from evidence.store import Store
from publish.datasets.export import ExportOrder, FolderNotEmpty, export_archive, export_snapshot
from publish.datasets.snapshot import archive as archives
from publish.datasets.snapshot.archive import archive_name, digest_path, unpack_archive, write_archive
from publish.datasets.snapshot.manifest import NotASnapshot
from publish.datasets.verification.archives import open_dataset
from publish.datasets.verification.problems import ProblemKind
from publish.datasets.verification.verify import verify_snapshot
from tests.publish.datasets import nights

TOP = f"hallmark-dataset-{nights.RUN.id}"
Add = Callable[[zipfile.ZipFile], None]


@pytest.fixture(scope="module")
def packed(written: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("packed") / archive_name(nights.RUN.id)
    write_archive(written, nights.RUN.id, path)
    return path


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_the_same_files_give_the_same_bytes_whatever_their_order_times_and_modes(
    written: Path, packed: Path, tmp_path: Path
) -> None:
    for path in sorted(written.iterdir(), reverse=True):
        shutil.copyfile(path, tmp_path / path.name)
        os.utime(tmp_path / path.name, (1, 1))
        (tmp_path / path.name).chmod(0o600)
    again = tmp_path / archive_name(nights.RUN.id)
    write_archive(tmp_path, nights.RUN.id, again)
    assert again.read_bytes() == packed.read_bytes()
    write_archive(tmp_path, nights.RUN.id, again)
    assert again.read_bytes() == packed.read_bytes(), "an archive does not hold the one before"


def test_members_have_no_times_owners_or_comments(packed: Path) -> None:
    with zipfile.ZipFile(packed) as archive:
        members = archive.infolist()
    assert [one.filename for one in members] == sorted(one.filename for one in members)
    assert {one.filename.partition("/")[0] for one in members} == {TOP}
    assert {(one.date_time, one.extra, one.comment, oct(one.external_attr >> 16)) for one in members} == {
        ((1980, 1, 1, 0, 0, 0), b"", b"", "0o100644")
    }


def test_an_ordinary_tool_unpacks_it_and_sha256sum_accepts_it(written: Path, packed: Path, tmp_path: Path) -> None:
    shutil.unpack_archive(packed, tmp_path)
    assert contents(tmp_path / TOP) == contents(written)
    tool = shutil.which("sha256sum")
    assert tool is not None
    for folder, sums in ((packed.parent, digest_path(packed).name), (tmp_path / TOP, "SHA256SUMS")):
        done = subprocess.run([tool, "-c", "--strict", sums], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_an_archive_is_verified_as_its_folder_is(packed: Path) -> None:
    with open_dataset(packed, processes=0) as folder:
        report = verify_snapshot(folder, processes=0)
        assert (report.code, report.judged.servers) == (0, len(nights.servers()) - 1)
    assert not folder.exists()


def test_a_confined_process_unpacks_it(written: Path, packed: Path) -> None:
    with open_dataset(packed) as folder:
        assert contents(folder) == contents(written)


def test_a_changed_byte_of_a_member_is_noticed(packed: Path, tmp_path: Path) -> None:
    data = bytearray(packed.read_bytes())
    data[data.index(b"Recompute") if b"Recompute" in data else len(data) // 3] ^= 1
    (tmp_path / "changed.zip").write_bytes(data)
    with pytest.raises(NotASnapshot, match="CRC"), open_dataset(tmp_path / "changed.zip", processes=0):
        pass


def _stored(*names: str) -> Add:
    def add(archive: zipfile.ZipFile) -> None:
        for name in names:
            archive.writestr(zipfile.ZipInfo(name), b"x")

    return add


def _compressed(archive: zipfile.ZipFile) -> None:
    archive.writestr(zipfile.ZipInfo(f"{TOP}/a.json"), b"0" * 2**20, zipfile.ZIP_DEFLATED)


def _larger_than_it_is(archive: zipfile.ZipFile) -> None:
    """Entries of the index that name the same bytes again and again."""
    archive.writestr(zipfile.ZipInfo(f"{TOP}/a.json"), b"x" * 2**16)
    (one,) = archive.infolist()
    for number in range(9):
        other = zipfile.ZipInfo(f"{TOP}/b{number}.json")
        other.header_offset, other.CRC = one.header_offset, one.CRC
        other.file_size = other.compress_size = one.file_size
        archive.filelist.append(other)


@pytest.mark.parametrize(
    ("add", "why"),
    [
        (_stored(f"{TOP}/../../outside"), "plain files"),
        (_stored("/etc/cron.d/x"), "plain files"),
        (_stored(f"{TOP}/a/b.json"), "plain files"),
        (_stored(f"{TOP}\\..\\x"), "plain files"),
        (_stored(f"{TOP}/"), "plain files"),
        (_stored(f"{TOP}/.hidden"), "plain files"),
        (_stored("../manifest.json"), "plain files"),
        (_stored("manifest.json"), "plain files"),
        (_stored(f"{TOP}/a.json", "hallmark-dataset-other/b.json"), "one folder|in a folder"),
        (_stored(f"{TOP}/a.json", f"{TOP}/a.json"), "different"),
        (_stored(*(f"{TOP}/{number}.json" for number in range(archives.MAX_MEMBERS + 1))), "at most"),
        (_compressed, "neither compressed"),
        (_larger_than_it_is, "the size of the archive"),
    ],
    ids=[
        "up",
        "root",
        "deep",
        "backslash",
        "folder",
        "hidden",
        "parent",
        "flat",
        "two",
        "twice",
        "many",
        "bomb",
        "lap",
    ],
)
def test_only_what_we_write_is_unpacked(tmp_path: Path, add: Add, why: str) -> None:
    path, folder = tmp_path / "x.zip", tmp_path / "folder"
    folder.mkdir()
    with warnings.catch_warnings(), zipfile.ZipFile(path, "w") as archive:
        warnings.simplefilter("ignore", UserWarning)  # of zipfile, about equal names
        add(archive)
    with pytest.raises(NotASnapshot, match=why):
        unpack_archive(path, folder)
    assert list(folder.iterdir()) == []
    assert {one.name for one in tmp_path.iterdir()} == {"x.zip", "folder"}


@pytest.mark.parametrize("data", [b"", b"PK\x05\x06", b"no archive", b"PK\x03\x04" + b"\xff" * 100])
def test_what_is_no_archive_is_no_snapshot(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.zip").write_bytes(data)
    with pytest.raises(NotASnapshot, match="an archive of a snapshot expected"), open_dataset(tmp_path / "x.zip"):
        pass


def test_a_link_in_an_archive_is_unpacked_as_a_plain_file(tmp_path: Path) -> None:
    link = zipfile.ZipInfo(f"{TOP}/link.json")
    link.create_system, link.external_attr = 3, 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr(link, b"/etc/passwd")
    (tmp_path / "folder").mkdir()
    unpack_archive(tmp_path / "x.zip", tmp_path / "folder")
    found = tmp_path / "folder" / "link.json"
    assert not found.is_symlink()
    assert found.read_bytes() == b"/etc/passwd"


def test_an_index_that_takes_more_memory_than_there_may_be_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("publish.datasets.verification.confined_processes.MEMORY_LIMIT", 200 * 2**20)
    entry = b"PK\x01\x02" + b"\0" * 42
    number = 6_000_000
    end = b"PK\x05\x06" + b"\0" * 4 + b"\xff" * 4 + (len(entry) * number).to_bytes(4, "little") + b"\0" * 6
    with (tmp_path / "x.zip").open("wb") as file:
        for _ in range(1_000):
            file.write(entry * (number // 1_000))
        file.write(end)
    with pytest.raises(NotASnapshot, match="more memory"), open_dataset(tmp_path / "x.zip"):
        pass


def test_an_export_as_an_archive_leaves_the_archive_and_its_digest_only(
    night: Store, packed: Path, tmp_path: Path
) -> None:
    path = tmp_path / "new" / "d.zip"
    export_archive(night, ExportOrder(run=nights.RUN.id), path)
    assert path.read_bytes() == packed.read_bytes()
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert digest_path(path).read_text() == f"{digest}  d.zip\n"
    assert {one.name for one in path.parent.iterdir()} == {"d.zip", "d.zip.sha256"}
    with pytest.raises(FolderNotEmpty, match="does not exist"):
        export_archive(night, ExportOrder(run=nights.RUN.id), path)


def test_a_folder_with_its_archive_is_verified_with_it(night: Store, packed: Path, tmp_path: Path) -> None:
    folder = tmp_path / "s"
    export_snapshot(night, ExportOrder(run=nights.RUN.id, archive=True), folder)
    assert (folder / packed.name).read_bytes() == packed.read_bytes()
    assert verify_snapshot(folder, processes=0).problems == []
    with (folder / packed.name).open("ab") as file:
        file.write(b"x")
    assert [(one.fault, one.file) for one in verify_snapshot(folder, processes=0).problems] == [
        (ProblemKind.SUMS, packed.name)
    ]
    digest_path(folder / packed.name).unlink()
    assert [one.fault for one in verify_snapshot(folder, processes=0).problems] == [ProblemKind.SUMS]
