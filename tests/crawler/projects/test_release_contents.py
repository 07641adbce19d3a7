"""What a release holds of the files that git ignores, by the manifests of npm and of Python's builders."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from crawler.archives import ArchiveWalk, Folder
from crawler.projects.project import describe_folder
from tests.durations import cpu_below

IGNORED = (".env", "src/notes_mcp/.env", "src/notes_mcp/key.py", "dist/index.js", "data/cache.json")


def published(folder: Path) -> set[str]:
    project, _ = describe_folder(folder)
    descriptor = os.open(project.root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        walk = ArchiveWalk(
            Folder(descriptor), lambda _: 99, project=project.path_in_repository, release=project.release
        )
        list(walk)
    finally:
        os.close(descriptor)
    assert walk.folder is not None
    return set(walk.folder.published)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for path in IGNORED:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text(".env\nkey.py\ndist/\ndata/\n")
    return tmp_path


@pytest.mark.parametrize(
    ("manifest", "npmignore", "files"),
    [
        ({}, None, set()),
        ({}, "data\n", {".env", "src/notes_mcp/.env", "src/notes_mcp/key.py", "dist/index.js"}),
        ({"private": True}, "data\n", set()),
        ({"files": ["dist"]}, "dist\n", {"dist/index.js"}),
        ({"files": ["./dist/*.js", "data/"]}, None, {"dist/index.js", "data/cache.json"}),
        ({"files": ["lib"], "main": "./dist/index.js"}, None, {"dist/index.js"}),
        ({"files": ["lib"], "bin": {"a": "dist/index.js"}}, None, {"dist/index.js"}),
        ({"files": ["src", "!src/notes_mcp/.env"]}, None, {"src/notes_mcp/key.py"}),
    ],
)
def test_npm_packs_by_files_and_npmignore(
    folder: Path, manifest: dict[str, object], npmignore: str | None, files: set[str]
) -> None:
    (folder / "package.json").write_text(json.dumps({"name": "notes-mcp", "version": "1.0.0", **manifest}))
    if npmignore is not None:
        (folder / ".npmignore").write_text(npmignore)
    assert published(folder) == files


@pytest.mark.parametrize(
    ("pyproject", "manifest_in", "files"),
    [
        ("[build-system]\nbuild-backend='uv_build'", "", {"src/notes_mcp/.env", "src/notes_mcp/key.py"}),
        ("[build-system]\nbuild-backend='flit_core.buildapi'", "", {"src/notes_mcp/.env", "src/notes_mcp/key.py"}),
        ("[build-system]\nbuild-backend='hatchling.build'", "", set()),
        (
            "[build-system]\nbuild-backend='hatchling.build'\n[tool.hatch.build]\nartifacts=['*.json']",
            "",
            {"data/cache.json"},
        ),
        (
            "[build-system]\nbuild-backend='hatchling.build'\n[tool.hatch.build.targets.wheel]\nignore-vcs=true",
            "",
            {"src/notes_mcp/.env", "src/notes_mcp/key.py"},
        ),
        (
            "[build-system]\nbuild-backend='poetry.core.masonry.api'\n[tool.poetry]\ninclude=[{path='.env'}]",
            "",
            {".env"},
        ),
        ("", "", {"src/notes_mcp/key.py"}),
        ("", "include .env\ngraft data\n", {".env", "data/cache.json", "src/notes_mcp/key.py"}),
        ("", "recursive-include src .env\nglobal-exclude key.py", {"src/notes_mcp/.env"}),
        ("classifiers=['Private :: Do Not Upload']", "graft data", set()),
    ],
)
def test_builders_of_python_packages_pack_by_their_own_rules(
    folder: Path, pyproject: str, manifest_in: str, files: set[str]
) -> None:
    (folder / "pyproject.toml").write_text(f"[project]\nname = 'notes-mcp'\nversion = '1'\n{pyproject}\n")
    (folder / "MANIFEST.in").write_text(manifest_in)
    assert published(folder) == files


@pytest.mark.parametrize(("root", "files"), [({}, {"a/.env"}), ({"workspaces": ["a"]}, set())])
def test_ignore_files_above_a_package_hold_in_a_workspace_only(
    tmp_path: Path, root: dict[str, object], files: set[str]
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / ".git").mkdir()
    (tmp_path / ".gitignore").write_text(".env\n")
    (tmp_path / "package.json").write_text(json.dumps({"name": "root", **root}))
    (tmp_path / "a/package.json").write_text('{"name": "a"}')
    (tmp_path / "a/.env").write_text("x")
    assert published(tmp_path / "a") == files


def test_a_manifest_of_any_shape_is_read(folder: Path) -> None:
    odd = {"name": 1, "files": [1, "", "!", "/", "[", "\ud800"], "main": 3, "bin": [2]}
    (folder / "package.json").write_text(json.dumps(odd))
    (folder / "pyproject.toml").write_text("build-system = 1\ntool = 2\nproject = 3\n")
    assert published(folder) == {"src/notes_mcp/key.py"}


def test_a_long_list_of_files_costs_little_for_each_ignored_folder(folder: Path) -> None:
    for number in range(30):
        (folder / f"data/{number}").mkdir()
    (folder / ".gitignore").write_text("data/*\n")
    files = [f"folder{number}/x" for number in range(50_000)]
    (folder / "package.json").write_text(json.dumps({"name": "notes-mcp", "version": "1.0.0", "files": files}))
    with cpu_below(1):
        assert published(folder) == set()
