"""Files and folders of documents: sorted, bounded, and never outside the folder."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from crawler.registries import documents
from crawler.registries.documents import DocumentRegistry
from crawler.registries.registry import Page, RegistryUnavailable
from evidence.model import ServerRef, Status
from tests.crawler.registries.documents import document


def walk(path: Path, cursor: str | None = None) -> list[Page]:
    async def collect() -> list[Page]:
        return [page async for page in DocumentRegistry(path).walk(cursor=cursor)]

    return asyncio.run(collect())


def refs(path: Path) -> list[ServerRef]:
    return [ref for page in walk(path) for ref in page.refs]


def named(name: str, version: str = "1.0.0") -> dict[str, object]:
    return document("2025-12-11", name=name) | {"version": version}


@pytest.mark.parametrize(
    "content",
    [
        json.dumps(named("a/b")),
        json.dumps([named("a/b")]),
        json.dumps({"servers": [named("a/b")]}, indent=1),
        json.dumps({"servers": [{"server": named("a/b"), "_meta": {}}], "metadata": {"count": 1}}),
        "\ufeff" + json.dumps(named("a/b")),
    ],
)
def test_one_object_a_list_and_a_page_are_understood(tmp_path: Path, content: str) -> None:
    file = tmp_path / "servers.json"
    file.write_text(content, encoding="utf-8")
    assert [(ref.registry, ref.name, ref.status) for ref in refs(file)] == [("file:servers.json", "a/b", Status.ACTIVE)]


def test_a_folder_is_read_in_order_of_names_with_the_newest_version_of_each(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    (tmp_path / "z.json").write_text(json.dumps([named("a/two", "1.9"), named("a/two", "1.10")]))
    (tmp_path / "deep" / "er" / "x.json").write_text(json.dumps(named("a/one")))
    (tmp_path / "readme.md").write_text("no document")
    (tmp_path / ".hidden.json").write_text(json.dumps(named("a/hidden")))
    found = refs(tmp_path)
    assert [(ref.name, ref.version) for ref in found] == [("a/one", "1.0.0"), ("a/two", "1.10")]


def test_a_bad_file_is_one_invalid_reference_and_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text('{"name": ')
    (tmp_path / "empty.json").write_text("")
    (tmp_path / "good.json").write_text(json.dumps(named("a/good")))
    found = {ref.name: ref for ref in refs(tmp_path)}
    assert set(found) == {"a/good", "bad.json", "empty.json"}
    assert found["bad.json"].status is found["empty.json"].status is Status.INVALID
    assert found["bad.json"].error == "file: the text ends inside a bracket"


def test_symbolic_links_do_not_lead_out_of_the_folder(tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.mkdir()
    inside.mkdir()
    (outside / "secret.json").write_text(json.dumps(named("a/secret")))
    (inside / "real.json").write_text(json.dumps(named("a/real")))
    (inside / "link.json").symlink_to(outside / "secret.json")
    (inside / "folder").symlink_to(outside)
    (inside / "again.json").symlink_to(inside / "real.json")
    (inside / "dangling.json").symlink_to(inside / "none")
    assert [ref.name for ref in refs(inside)] == ["a/real"]


def test_devices_and_pipes_are_not_opened(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "pipe.json")
    assert refs(tmp_path) == []


def test_files_beyond_the_caps_are_recorded_or_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.json").write_text(json.dumps(named("a/b")))
    monkeypatch.setattr(documents, "MAX_FILE", 10)
    assert [(ref.name, ref.status) for ref in refs(tmp_path)] == [("a.json", Status.INVALID)]
    monkeypatch.setattr(documents, "MAX_TOTAL", 10)
    with pytest.raises(RegistryUnavailable, match="at most 10 bytes"):
        refs(tmp_path)
    monkeypatch.setattr(documents, "MAX_TOTAL", 10_000)
    monkeypatch.setattr(documents, "MAX_FILES", 0)
    with pytest.raises(RegistryUnavailable, match="at most 0 documents"):
        refs(tmp_path)


def test_a_missing_path_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(RegistryUnavailable, match="No such file"):
        walk(tmp_path / "none.json")


def test_a_large_file_is_walked_in_pages_from_any_cursor(tmp_path: Path) -> None:
    file = tmp_path / "many.json"
    file.write_text(json.dumps([named(f"a/s{number:03}") for number in range(250)]))
    pages = walk(file)
    assert [len(page.refs) for page in pages] == [100, 100, 50]
    assert pages[-1].cursor is None
    assert walk(file, pages[0].cursor) == pages[1:]
    assert walk(file, pages[1].cursor) == pages[2:]
