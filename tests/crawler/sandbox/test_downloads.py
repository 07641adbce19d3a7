from __future__ import annotations

from pathlib import Path

from crawler.sandbox.install.downloads import describe_downloads


def _make(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def test_nothing_is_downloaded_while_names_are_resolved(tmp_path: Path) -> None:
    assert describe_downloads(tmp_path) == "resolving"
    _make(tmp_path, "bun/0a.npm")
    assert describe_downloads(tmp_path) == "resolving"


def test_packages_in_the_cache_of_bun_are_counted_once(tmp_path: Path) -> None:
    _make(tmp_path, "bun/0a.npm", "bun/0b.npm", "bun/0c.npm", "bun/ajv@8.0.0@@@1/package.json", "bun/ajv/8.0.0@@@1")
    _make(tmp_path, "bun/@scope/name@1.0.0@@@1/package.json")
    assert describe_downloads(tmp_path) == "downloading 2 of 3"


def test_wheels_in_the_cache_of_uv_are_counted(tmp_path: Path) -> None:
    _make(tmp_path, "uv/simple-v28/pypi/a.rkyv", "uv/simple-v28/index/0a/b.rkyv", "uv/archive-v0/x/a/__init__.py")
    assert describe_downloads(tmp_path) == "downloading 1 of 2"
    _make(tmp_path, "uv/archive-v0/y/b/__init__.py")
    assert describe_downloads(tmp_path) == "unpacking"
