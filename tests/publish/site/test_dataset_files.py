"""Files of snapshots are served whole and in part, by digest, and nothing else of the machine."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from evidence.store import Store
from publish.datasets.snapshot.manifest import MANIFEST
from tests.publish.datasets.conftest import night, written  # noqa: F401  fixtures
from tests.publish.datasets.nights import RUN
from tests.publish.site.conftest import SiteOf
from tests.publish.site.plain_backend import PlainBackend

NAME = "scorecards.parquet"
URL = f"/datasets/{RUN.id}/{NAME}"


@pytest.fixture
def place(written: Path, tmp_path: Path) -> Path:  # noqa: F811
    shutil.copytree(written, tmp_path / "place" / RUN.id)
    return tmp_path / "place"


@pytest.fixture
def client(site_of: SiteOf, make_store: Callable[..., Store], place: Path) -> TestClient:
    return site_of(make_store([]), PlainBackend(datasets=str(place)))


def test_a_file_comes_whole_with_its_digest_as_tag(client: TestClient, place: Path) -> None:
    found = client.get(URL)
    data = (place / RUN.id / NAME).read_bytes()
    assert (found.status_code, found.content) == (200, data)
    digest = json.loads((place / RUN.id / MANIFEST).read_bytes())["files"][NAME]["sha256"]
    assert found.headers["etag"] == f'"{digest}"'
    assert found.headers["content-length"] == str(len(data))
    assert found.headers["content-disposition"] == f'attachment; filename="{NAME}"'
    assert "content-encoding" not in found.headers
    again = client.get(URL, headers={"if-none-match": found.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [("bytes=0-9", 0, 10), ("bytes=5-", 5, None), ("bytes=-7", -7, None), ("bytes=3-3", 3, 4)],
)
def test_a_part_comes_as_a_part(client: TestClient, place: Path, asked: str, start: int, end: int | None) -> None:
    data = (place / RUN.id / NAME).read_bytes()
    found = client.get(URL, headers={"range": asked})
    assert (found.status_code, found.content) == (206, data[start:end])
    assert found.headers["content-range"].endswith(f"/{len(data)}")
    stale = client.get(URL, headers={"range": asked, "if-range": '"other"'})
    assert (stale.status_code, stale.content) == (200, data)


def test_a_part_that_is_not_there_is_refused_and_odd_ranges_are_ignored(client: TestClient) -> None:
    refused = client.get(URL, headers={"range": "bytes=99999999-"})
    assert refused.status_code == 416
    assert refused.headers["content-range"].startswith("bytes */")
    for odd in ("bytes=0-1,4-5", "lines=1-2", "bytes=-", "bytes=x-y"):
        assert client.get(URL, headers={"range": odd}).status_code == 200


def test_head_tells_the_size_and_sends_nothing(client: TestClient, place: Path) -> None:
    found = client.head(URL)
    assert (found.status_code, found.content) == (200, b"")
    assert found.headers["content-length"] == str((place / RUN.id / NAME).stat().st_size)


@pytest.mark.parametrize("name", ["manifest.json", "SHA256SUMS", "servers.csv.gz", "README.md"])
def test_every_file_that_belongs_to_it_is_served(client: TestClient, place: Path, name: str) -> None:
    found = client.get(f"/datasets/{RUN.id}/{name}")
    assert (found.status_code, found.content) == (200, (place / RUN.id / name).read_bytes())


@pytest.mark.parametrize("name", ["secret.txt", "..%2f..%2fetc%2fpasswd", "%2e%2e", ".hidden", "link.json", "x" * 200])
def test_what_the_manifest_does_not_name_is_not_served(client: TestClient, place: Path, name: str) -> None:
    (place / RUN.id / "secret.txt").write_text("secret")
    (place / RUN.id / "link.json").symlink_to("/etc/passwd")
    assert client.get(f"/datasets/{RUN.id}/{name}").status_code in {400, 404}


def test_a_file_that_became_a_link_is_not_served(client: TestClient, place: Path) -> None:
    (place / RUN.id / NAME).unlink()
    (place / RUN.id / NAME).symlink_to("/etc/passwd")
    assert client.get(URL).status_code == 404


def test_unfinished_and_unknown_snapshots_are_not_served(client: TestClient, place: Path) -> None:
    (place / RUN.id).rename(place / ".unfinished.partial")
    for name in (RUN.id, ".unfinished.partial", "%2e%2e"):
        assert client.get(f"/datasets/{name}/{NAME}").status_code in {400, 404}


def test_without_a_folder_there_are_no_files(site_of: SiteOf, make_store: Callable[..., Store]) -> None:
    for datasets in ("", "memory://elsewhere"):
        assert site_of(make_store([]), PlainBackend(datasets=datasets)).get(URL).status_code == 404
