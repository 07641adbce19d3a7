"""The dataset page lists what is in the place of the snapshots, with what identifies it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import sha256
from html import unescape
from pathlib import Path

from evidence.model import Dossier
from evidence.store import Store
from publish.datasets.export import ExportOrder, export_snapshot
from publish.datasets.format.questions import QUESTIONS
from tests.publish import samples
from tests.publish.site.conftest import SiteOf
from tests.publish.site.plain_backend import PlainBackend

MakeStore = Callable[[Sequence[Dossier]], Store]


def test_without_a_place_it_says_what_to_do(make_store: MakeStore, site_of: SiteOf) -> None:
    page = site_of(make_store([])).get("/datasets").text
    assert "No dataset is here yet" in page
    assert "HALLMARK_DATASETS" in page
    assert "hallmark verify" in page


def test_it_has_every_question_with_its_sql(make_store: MakeStore, site_of: SiteOf) -> None:
    page = unescape(site_of(make_store([])).get("/datasets").text)
    for question in QUESTIONS:
        assert question.title in page
        assert question.sql.strip() in page


def test_a_place_of_another_machine_is_not_contacted(make_store: MakeStore, site_of: SiteOf) -> None:
    backend = PlainBackend(datasets="memory://snapshots")
    assert "They are kept elsewhere" in site_of(make_store([]), backend).get("/datasets").text


def test_a_snapshot_is_listed_with_what_identifies_its_files(
    make_store: MakeStore, site_of: SiteOf, tmp_path: Path
) -> None:
    store = make_store(samples.dossiers(3))
    made = export_snapshot(store, ExportOrder(run=samples.RUN.id), tmp_path / "shelf" / samples.RUN.id)
    site = site_of(store, PlainBackend(datasets=str(tmp_path / "shelf")))
    page = site.get("/datasets").text
    for file in made.files:
        path = f"/datasets/{samples.RUN.id}/{file.name}"
        assert f'href="{path}"' in page
        assert file.sha256 in page
        got, head = site.get(path), site.head(path)
        assert sha256(got.content).hexdigest() == file.sha256
        assert head.headers["content-length"] == str(file.bytes)
        assert head.content == b""
    assert "3 servers" in page


def test_a_snapshot_with_an_archive_offers_it_with_its_digest(
    make_store: MakeStore, site_of: SiteOf, tmp_path: Path
) -> None:
    store = make_store(samples.dossiers(3))
    folder = tmp_path / "shelf" / samples.RUN.id
    export_snapshot(store, ExportOrder(run=samples.RUN.id, archive=True), folder)
    site = site_of(store, PlainBackend(datasets=str(tmp_path / "shelf")))
    path = f"/datasets/{samples.RUN.id}/hallmark-dataset-{samples.RUN.id}.zip"
    data = (folder / Path(path).name).read_bytes()
    page = site.get("/datasets").text
    assert f'href="{path}" download' in page
    assert sha256(data).hexdigest() in page
    got = site.get(path)
    assert got.content == data
    assert got.headers["content-type"] == "application/zip"
    assert got.headers["etag"] == f'"{sha256(data).hexdigest()}"'
    assert site.get(f"{path}.sha256").text == f"{sha256(data).hexdigest()}  {Path(path).name}\n"
    (one,) = site.get("/api/v1/datasets").json()["datasets"]
    assert (one["archive"]["sha256"], one["archive"]["bytes"]) == (sha256(data).hexdigest(), len(data))
    assert one["archive"]["url"].endswith(path)
    assert Path(path).name not in {file["name"] for file in one["files"]}
    (folder / f"{Path(path).name}.sha256").unlink()
    assert site.get(path).status_code == 404, "an archive without its digest is unfinished"


def test_a_snapshot_without_an_archive_offers_none(make_store: MakeStore, site_of: SiteOf, tmp_path: Path) -> None:
    store = make_store(samples.dossiers(3))
    export_snapshot(store, ExportOrder(run=samples.RUN.id), tmp_path / "shelf" / samples.RUN.id)
    site = site_of(store, PlainBackend(datasets=str(tmp_path / "shelf")))
    assert ".zip" not in site.get("/datasets").text.partition("How to check one")[0]
    (one,) = site.get("/api/v1/datasets").json()["datasets"]
    assert one["archive"] is None
    assert site.get(f"/datasets/{samples.RUN.id}/hallmark-dataset-{samples.RUN.id}.zip").status_code == 404


def test_a_snapshot_that_comes_later_is_listed_within_a_minute(
    make_store: MakeStore, site_of: SiteOf, tmp_path: Path
) -> None:
    store, backend = make_store(samples.dossiers(3)), PlainBackend(datasets=str(tmp_path / "shelf"))
    site = site_of(store, backend)
    assert "No dataset is here yet" in site.get("/datasets").text
    export_snapshot(store, ExportOrder(run=samples.RUN.id), tmp_path / "shelf" / samples.RUN.id)
    backend.seconds += 61
    assert samples.RUN.id in site.get("/datasets").text
